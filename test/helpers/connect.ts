import { connect, runningStack } from '../../infra/local/storage/connect.ts';
import { adopt } from '../../infra/settings.ts';

/** Connects this test to the stack on a data folder, with the settings of the stack. */
export function connectTo(dataDir: string): void {
  adopt(runningStack(dataDir).settings ?? {});
  connect(dataDir);
}
