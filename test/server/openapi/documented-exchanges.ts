import type { ValidateFunction } from 'ajv/dist/2020.js';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import {
  type Document,
  type DocumentedAnswer,
  type DocumentedContent,
  type DocumentedOperation,
  type DocumentedParameter,
  pointerTo,
  schemaChecks,
} from './openapi-schemas.js';

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

/** An operation of the document, with its place. */
interface Operation {
  method: string;
  path: string;
  pattern: RegExp;
  pointer: string;
  documented: DocumentedOperation;
}

/** The document, read once: a schema is compiled when the first value of it comes. */
export interface Reference {
  document: Document;
  /** Those with fewer parameters in their paths first. */
  operations: readonly Operation[];
  /** Every header that some answer of the document has. */
  headers: readonly string[];
  check(pointer: string): ValidateFunction;
}

export function readReference(document: Document): Reference {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => ({
      ...{ method, path, pattern: patternOf(path), documented },
      pointer: pointerTo('paths', path, method),
    })),
  );
  const compile = schemaChecks(document);
  const checks = new Map<string, ValidateFunction>();
  return {
    document,
    operations: operations.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length),
    headers: Object.keys(document.components.headers),
    check(pointer) {
      const check = checks.get(pointer) ?? compile(pointer);
      checks.set(pointer, check);
      return check;
    },
  };
}

/** A part of the document, with its place. */
interface Place<T> {
  pointer: string;
  value: T;
}

/** A value of a request or an answer, and what the document has for it. */
interface Described {
  what: string;
  pointer: string;
  required: boolean;
  text: string | undefined;
}

/**
 * Holds exchanges against the reference: an answer has the status, the media type, the headers and the body that the document has for
 * its route, and a request that was taken has the parameters, the body and the key. A route, a header of the reference, a query or a
 * body that is not documented is a fault, too.
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
    const operation = this.#reference.operations.find((one) => one.method === method && one.pattern.test(path));
    const name = `${exchange.method} ${operation?.path ?? path} ${exchange.status}`;
    this.checked++;
    this.seen.add(name);
    if (!operation) {
      // What the document does not have the service does not have either.
      if (![401, 403, 404, 405].includes(exchange.status)) this.faults.push(`${name} is not documented`);
      return;
    }
    this.#holdAnswer(name, exchange, operation);
    if (exchange.status < 300) this.#holdRequest(`${name} taken`, exchange, { operation, path, query });
  }

  #holdAnswer(name: string, { status, headers, text }: Exchange, { pointer, documented }: Operation): void {
    const response = documented.responses[status];
    if (!response) {
      this.faults.push(`${name} is not documented`);
      return;
    }
    const answer = this.#resolve<DocumentedAnswer>(pointer + pointerTo('responses', String(status)), response);
    const declared = new Set<string>();
    for (const [header, reference] of Object.entries(answer.value.headers ?? {})) {
      const { pointer: at, value } = this.#resolve(answer.pointer + pointerTo('headers', header), reference);
      const sent = headers[header.toLowerCase()];
      const { required = false } = value as { required?: boolean };
      this.#holdText(name, { what: header, pointer: at, required, text: sent === undefined ? sent : `${sent}` });
      declared.add(header.toLowerCase());
    }
    for (const header of this.#reference.headers) {
      const present = headers[header.toLowerCase()] !== undefined;
      if (present && !declared.has(header.toLowerCase())) this.faults.push(`${name} has ${header}`);
    }
    if (answer.value.content && text === '') this.faults.push(`${name} lacks a body`);
    this.#holdBody(name, { text, type: headers['content-type'], ...answer });
  }

  #holdRequest(
    name: string,
    { sent }: Exchange,
    { operation, path, query }: { operation: Operation; path: string; query: string },
  ): void {
    const { pointer, documented } = operation;
    const asked = new URLSearchParams(query);
    const inPath = operation.pattern.exec(path)?.groups ?? {};
    const known = new Set<string>();
    for (const [i, one] of documented.parameters.entries()) {
      const at = this.#resolve<Partial<DocumentedParameter>>(pointer + pointerTo('parameters', String(i)), one);
      const { name: what = '', in: where, required = false } = at.value;
      if (where === 'query') known.add(what);
      const texts = where === 'query' ? asked.getAll(what) : [];
      if (where === 'path') texts.push(decodeURIComponent(inPath[what] ?? ''));
      const header = where === 'header' ? sent.headers[what.toLowerCase()] : undefined;
      for (const text of texts.length > 0 ? texts : [header]) {
        this.#holdText(name, { what, pointer: at.pointer, required, text });
      }
    }
    const strange = [...asked.keys()].filter((one) => !known.has(one));
    const open = documented.security.every((needed) => Object.keys(needed).length === 0);
    if (strange.length > 0 && !open) this.faults.push(`${name} took ${strange}`);
    if (!documented.security.some((needed) => this.#isMet(needed, sent.headers)))
      this.faults.push(`${name} without a key`);
    const { requestBody } = documented;
    if (requestBody?.required && sent.text === '') this.faults.push(`${name} without a body`);
    // What a capability checks in its turn is taken before that, and fails then (OPS-6).
    if (sent.text !== '' && capabilityNamed(JSON.parse(sent.text)?.capability)?.checkInTurn) return;
    const body = { text: sent.text, type: sent.headers['content-type'] };
    this.#holdBody(name, { ...body, pointer: pointer + pointerTo('requestBody'), value: requestBody ?? {} });
  }

  /** The schemes of one way to authenticate are all there. */
  #isMet(needed: Record<string, string[]>, headers: Record<string, string>): boolean {
    return Object.keys(needed).every((name) => {
      const scheme = this.#reference.document.components.securitySchemes[name] as {
        type: string;
        in?: string;
        name?: string;
      };
      if (scheme.type === 'http') return /^bearer\s+\S/i.test(headers.authorization ?? '');
      if (scheme.in === 'cookie') return (headers.cookie ?? '').includes(`${scheme.name}=`);
      return headers[String(scheme.name).toLowerCase()] !== undefined;
    });
  }

  /** A parameter or a header: of a schema that is no text, it is what its text reads as. */
  #holdText(name: string, { what, pointer, required, text }: Described): void {
    if (text === undefined) {
      if (required) this.faults.push(`${name} lacks ${what}`);
      return;
    }
    const valid = this.#reference.check(`${pointer}/schema`);
    if (!valid(text) && !valid(readAsJson(text))) this.faults.push(`${name} has ${what} ${text}: ${told(valid)}`);
  }

  #holdBody(
    name: string,
    body: Place<{ content?: Record<string, DocumentedContent> }> & { text: string; type: unknown },
  ): void {
    const { text, type, pointer, value } = body;
    if (text === '') return;
    const sent = String(type).split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const documented = Object.keys(value.content ?? {}).find((one) =>
      new RegExp(`^${one.replace('*', '.+')}$`).test(sent),
    );
    if (documented === undefined) {
      this.faults.push(`${name} has a body of ${sent}`);
      return;
    }
    const valid = this.#reference.check(`${pointer}${pointerTo('content', documented)}/schema`);
    if (!valid(sent === 'application/json' ? JSON.parse(text) : text)) this.faults.push(`${name}: ${told(valid)}`);
  }

  /** What a reference refers to; the part itself where it is none. */
  #resolve<T>(pointer: string, part: T | { $ref?: string }): Place<T> {
    const { $ref } = part as { $ref?: string };
    if ($ref === undefined) return { pointer, value: part as T };
    const steps = $ref.slice(2).split('/');
    const value = steps.reduce<unknown>(
      (whole, step) => (whole as Record<string, unknown>)[step],
      this.#reference.document,
    );
    return { pointer: $ref.slice(1), value: value as T };
  }
}

const told = ({ errors }: ValidateFunction): string =>
  (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message }) => `${instancePath} ${message}`)
    .join(', ');

function readAsJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
