import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { queryOf } from './own-url.ts';

/**
 * Pages on the way from an application through the sign-in and back, by their resource, and whether
 * all that they answer is on this way. An application opens the way in a pop-up window and waits
 * there for the code. One answer with the policy would cut the two windows apart for good, also if
 * it is a redirect. Against the window that opened them, these pages have the frame rules, and the
 * delayed button of the consent.
 */
const wayOfSignIn: Readonly<Record<string, 'always' | 'with return_to'>> = {
  '/oauth/authorize': 'always',
  '/account/sign-in': 'always',
  '/account/callback': 'always',
  // The account, which asks somebody new for a public name and then continues to a page.
  '/account': 'with return_to',
};

/** Keeps windows of other sites from holding a page, but on the way of a sign-in. */
export function openerPolicy(): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  const setHeader: Required<ReturnType<typeof openerPolicy>>['after'] = ({ event, response }) => {
    if (!response || isOnWay(event)) return;
    response.headers = { ...response.headers, 'Cross-Origin-Opener-Policy': 'same-origin' };
  };
  return { after: setHeader, onError: setHeader };
}

function isOnWay(event: APIGatewayProxyEvent): boolean {
  const isOn = wayOfSignIn[event.resource];
  if (isOn !== 'with return_to') return isOn === 'always';
  const form = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  return [queryOf(event), `${form}`].some((sent) => new URLSearchParams(sent).has('return_to'));
}
