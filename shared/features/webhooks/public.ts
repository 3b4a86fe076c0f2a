// Webhooks: messages about changes to the receivers of applications.
export { longestRequest, longestRetryAfter } from './connection.ts';
export { longestFailing, longestTesting, replayPause } from './decisions.ts';
export { job } from './job.ts';
export { kinds, webhookRunKey } from './kinds.ts';
export { largestBody } from './message.ts';
export { applicationPage, applicationsPage, registrationPage } from './pages/application-pages.ts';
export { enteredIn, webhookFields } from './pages/webhook-form.ts';
export {
  invalidWebhookPage,
  newWebhookPage,
  WebhookPath,
  webhookPage,
  webhookPath,
} from './pages/webhook-pages.ts';
export * as presented from './presented.ts';
export {
  CaseMessage,
  EntityMessage,
  PersonMessage,
  RestartMessage,
  ReviewMessage,
  TestMessage,
  type WebhookMessage,
} from './presented.ts';
export { type RunResult, sendWebhooks } from './run.ts';
export {
  listedIn,
  messageTypes,
  mostAttempts,
  typesFor,
  UtcTime,
  Webhook,
  withoutCursor,
} from './webhook.ts';
export {
  confirmWebhook,
  continueWebhook,
  pauseWebhook,
  replayWebhook,
  resendMessage,
  rotateWebhookSecret,
  skipMessage,
  testWebhook,
} from './webhook-actions.ts';
export {
  countAhead,
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  updateWebhook,
} from './webhook-repository.ts';
