import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { validateInput, validateOutput, validateSecurity } from '@stoplight/prism-http/dist/validator/index.js';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import type { Document } from './openapi-schemas.js';

/** One request and its answer, as they went over the wire. Names of headers are in lower case. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  sent: { headers: Record<string, string>; text: string };
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** An operation as Prism reads it from the document. */
type Operation = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number];

/** The document, read once: what Prism makes of a schema it keeps with it. */
export interface Reference {
  /** Those with fewer parameters in their paths first. */
  operations: readonly Operation[];
  /** Every header that some answer of the document has. */
  headers: readonly string[];
}

export async function readReference(document: Document): Promise<Reference> {
  const operations = await getHttpOperationsFromSpec(document);
  return {
    operations: operations.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length),
    headers: Object.keys(document.components.headers),
  };
}

type Judged =
  | ReturnType<typeof validateInput>
  | ReturnType<typeof validateOutput>
  | ReturnType<typeof validateSecurity>;

/**
 * Holds exchanges against the reference, as Prism would in front of the service: an answer has the status, the media type, the headers
 * and the body that the document has for its route, and a request that was taken has the parameters, the body and the key. Prism lets
 * pass what the document does not name; here a route, a header of the reference, a query or a body that is not documented is a fault, too.
 */
export class DocumentedExchanges {
  /** What is not as the document has it. */
  readonly faults: string[] = [];
  /** Method, path and status of each answer that was looked at. */
  readonly seen = new Set<string>();
  checked = 0;
  readonly #reference: Reference;

  constructor(reference: Reference) {
    this.#reference = reference;
  }

  hold(exchange: Exchange): void {
    const method = exchange.method.toLowerCase();
    const [path = '', query = ''] = exchange.path.split('?', 2);
    const operation = this.#reference.operations.find((one) => one.method === method && patternOf(one.path).test(path));
    const name = `${exchange.method} ${operation?.path ?? path} ${exchange.status}`;
    this.checked++;
    this.seen.add(name);
    if (!operation) {
      // What the document does not have the service does not have either.
      if (![401, 403, 404, 405].includes(exchange.status)) this.faults.push(`${name} is not documented`);
      return;
    }
    this.#holdAnswer(name, exchange, operation);
    if (exchange.status < 300) this.#holdRequest(name, exchange, { operation, path, query });
  }

  #holdAnswer(name: string, { status, headers, text }: Exchange, operation: Operation): void {
    const flat = Object.entries(headers).flatMap(([header, value]) =>
      value === undefined ? [] : [[header, `${value}`]],
    );
    const body = text === '' ? undefined : bodyOf(text, headers['content-type']);
    const element = { statusCode: status, headers: Object.fromEntries(flat), body };
    this.#judge(name, validateOutput({ resource: operation, element }));
    const documented = operation.responses.find(({ code }) => code === String(status));
    if (documented && !documented.contents?.length && text !== '') this.faults.push(`${name} has a body`);
    if (documented?.contents?.length && text === '') this.faults.push(`${name} lacks a body`);
    const declared = documented?.headers?.map((header) => header.name.toLowerCase()) ?? [];
    for (const header of this.#reference.headers) {
      const present = headers[header.toLowerCase()] !== undefined;
      if (present && !declared.includes(header.toLowerCase())) this.faults.push(`${name} has ${header}`);
    }
  }

  #holdRequest(
    name: string,
    { sent }: Exchange,
    { operation, path, query }: { operation: Operation; path: string; query: string },
  ): void {
    const url = { path, query: Object.fromEntries(new URLSearchParams(query)) };
    const body = sent.text === '' ? undefined : JSON.parse(sent.text);
    // Prism knows the scheme by one spelling; HTTP's names of schemes have no case.
    const { authorization } = sent.headers;
    const headers = {
      ...sent.headers,
      ...(authorization && { authorization: authorization.replace(/^bearer/i, 'Bearer') }),
      'content-length': String(Buffer.byteLength(sent.text)),
    };
    const element = { method: operation.method as 'get', url, headers, body };
    // What a capability checks in its turn is taken before that, and fails then (OPS-6).
    const inTurn = capabilityNamed(body?.capability)?.checkInTurn ? 'body' : '';
    this.#judge(`${name} taken`, validateInput({ resource: operation, element }), inTurn);
    this.#judge(`${name} taken`, validateSecurity({ resource: operation, element }));
    const known = operation.request?.query?.map((one) => one.name) ?? [];
    const asked = Object.keys(url.query).filter((key) => !known.includes(key));
    if (asked.length > 0 && operation.security?.flat().length) this.faults.push(`${name} took ${asked}`);
  }

  /** `apart`: faults in that part of the request are none. */
  #judge(name: string, judged: Judged, apart = ''): void {
    if (judged._tag === 'Right') return;
    const found = judged.left.filter(({ path }) => apart === '' || path?.[0] !== apart);
    if (found.length > 0) this.faults.push(`${name}: ${found.slice(0, 5).map(({ message }) => message)}`);
  }
}

const bodyOf = (text: string, type: unknown): unknown =>
  String(type).startsWith('application/json') ? JSON.parse(text) : text;

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
