import { handler as listLanguages } from '../../../../functions/api/list-languages.ts';
import { loggedIds } from '../../../../shared/core/http/request-ids.ts';
import { silence } from '../../../helpers/console.ts';
import { invoke } from '../../../helpers/invoke.ts';

test('a log line has both ids of a request, and the trace if Lambda names one', () => {
  const ids = { requestId: 'a', extendedRequestId: 'b=' };
  expect(loggedIds(ids)).toEqual(ids);
  process.env._X_AMZN_TRACE_ID = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=5;Sampled=0';
  expect(loggedIds(ids)).toEqual({ ...ids, trace: '1-5759e988-bd862e3fe1be46a994272793' });
});

test('a server has one id, which is logged once', () => {
  expect(loggedIds({ requestId: 'a', extendedRequestId: 'a' })).toEqual({ requestId: 'a' });
  expect(loggedIds({ requestId: 'a' })).toEqual({ requestId: 'a' });
});

test('Lambda logs the first request of an environment, and a server none', async () => {
  const log = silence('info');
  await invoke(listLanguages);
  expect(log).not.toHaveBeenCalled();
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'reviews-listlanguages';
  await invoke(listLanguages);
  await invoke(listLanguages);
  expect(log.mock.calls).toEqual([
    [
      {
        message: 'Cold start',
        operation: 'list-languages',
        requestId: expect.any(String),
        milliseconds: expect.any(Number),
        megabytes: expect.any(Number),
      },
    ],
  ]);
});
