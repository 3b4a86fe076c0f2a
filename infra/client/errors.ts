interface Body {
  error?: string;
  [field: string]: unknown;
}

/** An answer other than a success. `code` is the error of the body, such as `not_found`. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** Names the request in the log of the service. Put it into a report of a problem. */
  readonly requestId: string | undefined;

  constructor(response: Response, body: Body) {
    const { error = 'unknown' } = body;
    // The token endpoint has the words of RFC 6749.
    super(String(body.description ?? body.error_description ?? error));
    this.status = response.status;
    this.code = error;
    this.requestId = response.headers.get('x-amzn-requestid') ?? undefined;
  }
}

/** 404: it does not exist, or is not public. */
export class NotFound extends ApiError {
  override readonly name = 'NotFound';
}

/** 412: it has changed since it was read. Read it again, and decide with the new ETag. */
export class PreconditionFailed extends ApiError {
  override readonly name = 'PreconditionFailed';
}

/** 410: the cursor of the change feed is no longer valid. Begin again. */
export class Gone extends ApiError {
  override readonly name = 'Gone';
}

/** 401, or a refresh that was refused. Ask the person for access again. */
export class AccessEnded extends ApiError {
  override readonly name = 'AccessEnded';
}

/** The daily limit of votes, reports, publications, edits or renames is used up. */
export class LimitExceeded extends ApiError {
  override readonly name = 'LimitExceeded';
}

/** A success without what a service of this API answers. Another program may have answered. */
export class InvalidAnswer extends Error {
  override readonly name = 'InvalidAnswer';
}

const byStatus: Record<number, typeof ApiError> = {
  401: AccessEnded,
  404: NotFound,
  410: Gone,
  412: PreconditionFailed,
};

/** Makes the error of an answer, also of one that is not JSON. */
export async function errorOf(response: Response): Promise<ApiError> {
  // Browsers hide the status and the target of a redirect that they do not follow.
  const { status, type } = response;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    return new ApiError(response, {
      error: 'redirect',
      description: 'The base URL is redirected, and nothing follows. Use the address it leads to',
    });
  }
  const body = (await response.json().catch(() => ({}))) as Body;
  const { error } = body;
  if (error === 'limit_exceeded') return new LimitExceeded(response, body);
  if (error === 'invalid_grant') return new AccessEnded(response, body);
  return new (byStatus[status] ?? ApiError)(response, body);
}
