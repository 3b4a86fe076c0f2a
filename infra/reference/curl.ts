import type { Call } from './description.ts';

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns a command that sends an operation, with the examples of the description. An access token
 * is `$TOKEN`.
 */
export function curlOf(call: Call): string {
  const { method, security, requestBody } = call;
  const { content = {} } = requestBody ?? {};
  const [type = ''] = Object.keys(content);
  const body = content[type];
  const isImplied = method === (body ? 'POST' : 'GET');
  const verb = isImplied ? '' : ` -X ${method}`;
  const lines = [`curl -s -w '\\n'${verb} ${quoted(addressOf(call))}`];
  if (security.some(({ bearer }) => bearer)) lines.push('-H "Authorization: Bearer $TOKEN"');
  if (type === 'application/json') {
    lines.push(`-H 'Content-Type: ${type}'`);
    lines.push(`-d ${quoted(JSON.stringify(body?.example, null, 2))}`);
  } else if (body) {
    for (const [name, value] of Object.entries(body.example as Record<string, string>)) {
      lines.push(`--data-urlencode ${quoted(`${name}=${value}`)}`);
    }
  }
  return `${lines.map((line) => line.replaceAll('\n', '\n  ')).join(' \\\n  ')}\n`;
}

function addressOf({ server, path, parameters = [] }: Call): string {
  const examples = parameters.filter(({ example }) => example !== undefined);
  const query = new URLSearchParams();
  let filled = path;
  for (const { in: place, name, example } of examples) {
    if (place === 'path') {
      filled = filled.replace(`{${name}}`, `${example}`);
    } else {
      query.set(name, `${example}`);
    }
  }
  return `${server}${filled}${query.size > 0 ? `?${query}` : ''}`;
}
