import { request } from 'undici';

/** Calls the stand-in network's control API (sandbox/README.md). Throws on an answer that is no success. */
export async function control(
  url: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await request(url + path, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return answer.body.json();
}
