/** Gives a test file an emulator of DynamoDB in place of SQLite. Import it before all else. */
process.env.WITH_EMULATOR = '1';
