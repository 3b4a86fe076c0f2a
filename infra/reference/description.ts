/** A JSON Schema, with the keywords that the description uses. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  format?: string;
  pattern?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  additionalProperties?: boolean | Schema;
}

export interface Parameter {
  name: string;
  in: string;
  description: string;
  required: boolean;
  schema: Schema;
  example?: string | number;
}

interface Content {
  schema: Schema;
  example?: unknown;
}

interface Response {
  description: string;
  headers?: Readonly<Record<string, unknown>>;
  content?: Readonly<Record<string, Content>>;
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  security: readonly Readonly<Record<string, readonly string[] | undefined>>[];
  parameters?: readonly Parameter[];
  requestBody?: { required: boolean; content: Readonly<Record<string, Content>> };
  responses: Readonly<Record<string, Response>>;
}

/** An operation with its place: method in capitals, and path below `server`. */
export interface Call extends Operation {
  method: string;
  path: string;
  server: string;
}

interface Server {
  url: string;
}

/** The parts of the OpenAPI description that the reference shows. */
export interface Description {
  info: { description: string; license: { identifier: string } };
  servers: readonly Server[];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation | readonly Server[]>>>>;
  /** Requests that the service sends, by type of message. */
  webhooks: Readonly<Record<string, { post: Operation }>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    headers: Readonly<Record<string, { description: string; example?: string | number }>>;
    securitySchemes: {
      oauth2: {
        description: string;
        flows: { authorizationCode: { scopes: Readonly<Record<string, string>> } };
      };
    };
  };
}

/** Returns the operations in the order of the description. */
export function callsOf({ paths, servers }: Description): Call[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const { servers: own = servers, ...operations } = item;
    const [server] = own as readonly Server[];
    return Object.entries(operations).map(([method, operation]) => {
      return {
        ...(operation as Operation),
        method: method.toUpperCase(),
        path,
        server: server?.url ?? '',
      };
    });
  });
}
