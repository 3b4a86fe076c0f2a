import type { components, paths, webhooks } from './description.d.ts';

// Types of requests and answers, read from the description of the API.

export type { components, paths };

export type Method = 'get' | 'post' | 'put' | 'delete';

/** Paths with a method, as the description writes them, such as `/review/{review_id}`. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: object } } ? P : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = paths[P] extends {
  [K in M]: infer O;
}
  ? O
  : never;

/** A part of the parameters, which may be left out if all of it may. */
type Part<O, K extends string> = O extends { parameters: { [X in K]: infer T } }
  ? { [X in K]: T }
  : O extends { parameters: { [X in K]?: infer T } }
    ? { [X in K]?: NonNullable<T> }
    : unknown;

type BodyOf<O> = O extends { requestBody: { content: infer C } }
  ? { body: C[keyof C] }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: C[keyof C] }
    : unknown;

/** Input of a request beside its path. */
export type Input<P extends keyof paths, M extends Method> = Part<Operation<P, M>, 'path'> &
  Part<Operation<P, M>, 'query'> &
  BodyOf<Operation<P, M>> & { headers?: Record<string, string>; signal?: AbortSignal };

/** The input as the arguments of a function. It may be left out if nothing in it is required. */
export type Inputs<P extends keyof paths, M extends Method> =
  object extends Input<P, M> ? [input?: Input<P, M>] : [input: Input<P, M>];

/** The body of a successful answer. */
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: { 200: { content: { 'application/json': infer B } } } }
    ? B
    : unknown;

/** Paths whose answers come in pages, each with a link to the next. */
export type ListPath =
  | '/review'
  | '/review/{review_id}/revisions'
  | '/entity'
  | '/user'
  | '/user/me/reviews';

/** An element of the list in an answer. */
export type Item<P extends ListPath> = {
  [K in keyof Answer<P, 'get'>]-?: Answer<P, 'get'>[K] extends readonly (infer T)[] ? T : never;
}[keyof Answer<P, 'get'>];

export type NewReview = NonNullable<
  paths['/review']['post']['requestBody']
>['content']['application/json'];

export type ReviewChange = NonNullable<
  paths['/review/{review_id}']['post']['requestBody']
>['content']['application/json'];

/** A message of a webhook. */
export type Message =
  webhooks[keyof webhooks]['post']['requestBody']['content']['application/json'];
