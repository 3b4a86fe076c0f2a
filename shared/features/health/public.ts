// What an operator and a load balancer ask of a running service.
export { checkAddress } from './address.ts';
export { applyInOrder } from './apply-in-order.ts';
export { type Health, readHealth } from './health.ts';
export { isHeartbeat, passHeartbeat, recordHeartbeat } from './heartbeat.ts';
export { job } from './job.ts';
export { checkKeys, expectKeys } from './keys.ts';
