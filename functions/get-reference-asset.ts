import { existsSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import * as v from 'valibot';
import { partsOf, readRequest } from '../shared/http/read-request.ts';
import { PathParameter } from '../shared/http/request.ts';
import { browserHandler } from '../shared/pages/error-page.ts';
import { assets } from '../shared/pages/reference-assets.ts';

const request = v.object({
  path: v.object({ file: PathParameter('Page', v.picklist(Object.keys(assets))) }),
});

/** Serves files of the reference as text, which API Gateway compresses. Names have a version. */
export const handler = browserHandler((event) => {
  const { file } = readRequest(request, partsOf(event)).path;
  const packaged = assets[file] ?? '';
  // Deployed files are beside the function, see infra/aws/bundle.ts.
  const deployed = join(import.meta.dirname, parse(packaged).base);
  const path = existsSync(deployed) ? deployed : join(import.meta.dirname, '..', packaged);
  return {
    statusCode: 200,
    headers: {
      'Content-Type': `text/${file.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
    },
    body: readFileSync(path, 'utf8'),
  };
});
