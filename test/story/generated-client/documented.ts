import { type Document, type DocumentedAnswer, pointerTo, schemaChecks } from '../../server/openapi/openapi-schemas.js';

/**
 * `fetch`, with every answer held against the reference: its status, headers and body must be what the document has for
 * this route. What is not is added to `faults`.
 */
export function documentedFetch(document: Document, faults: string[], seen: Set<string>) {
  const compile = schemaChecks(document);
  const checks = new Map<string, ReturnType<typeof compile>>();
  const check = (pointer: string) => {
    const known = checks.get(pointer) ?? compile(pointer);
    checks.set(pointer, known);
    return known;
  };
  return async (request: Request): Promise<Response> => {
    const method = request.method.toLowerCase();
    const path = templateOf(document, new URL(request.url).pathname);
    const response = await fetch(request);
    const status = String(response.status);
    const name = `${request.method} ${path} ${status}`;
    seen.add(name);
    const documented = path === undefined ? undefined : document.paths[path]?.[method]?.responses[status];
    if (!documented) {
      faults.push(`${name} is not documented`);
      return response;
    }
    const shared = documented.$ref?.split('/').at(-1);
    const answer: DocumentedAnswer = shared ? (document.components.responses[shared] ?? {}) : documented;
    const at = shared
      ? pointerTo('components', 'responses', shared)
      : pointerTo('paths', path ?? '', method, 'responses', status);
    for (const header of Object.keys(answer.headers ?? {})) {
      const value = response.headers.get(header);
      const valid = check(pointerTo('components', 'headers', header, 'schema'));
      const required = document.components.headers[header]?.required === true;
      if (value === null ? required : !valid(value)) faults.push(`${name}: header ${header}: ${value}`);
    }
    const text = await response.clone().text();
    if (!answer.content) {
      if (text !== '') faults.push(`${name} has a body`);
      return response;
    }
    const valid = check(`${at}${pointerTo('content', 'application/json', 'schema')}`);
    if (!valid(JSON.parse(text))) faults.push(`${name}: ${JSON.stringify(valid.errors)} ${text}`);
    return response;
  };
}

function templateOf(document: Document, path: string): string | undefined {
  return Object.keys(document.paths).find((template) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`).test(path),
  );
}
