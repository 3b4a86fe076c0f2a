import { databaseEnvironment } from '../../infra/local/database.ts';
import './contract.ts';

// Nothing listens at this address. A test file that needs the table imports fixtures.ts, or
// table.ts alone.
Object.assign(process.env, databaseEnvironment('http://127.0.0.1:1', ''), {
  AUTH_URL: 'https://api.example/ws',
  SIGNING_KEYS: Buffer.alloc(32, 'test').toString('base64url'),
});
