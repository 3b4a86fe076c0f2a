import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { Registration } from '../../../shared/oauth/application.ts';
import { WebhookAddress } from '../../../shared/webhooks/address.ts';

// Stored URLs have 2,048 characters at most, so that 25 applications fit a page.

const urlOf = (length: number) => 'https://client.example/'.padEnd(length, 'x');

test.each([2048, 2049])('of URLs with %i characters', (length) => {
  const isShort = length <= 2048;
  for (const name of ['website', 'redirect_uri']) {
    const form = { name: 'Shelf', desc: '', website: urlOf(30), redirect_uri: urlOf(30) };
    const { success, issues } = v.safeParse(Registration, { ...form, [name]: urlOf(length) });
    expect(success).toBe(isShort);
    if (!isShort) expect(issues?.[0].message).toBe('must have at most 2048 characters');
  }
  expect(v.safeParse(WebhookAddress, urlOf(length)).success).toBe(isShort);
});
