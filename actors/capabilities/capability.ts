import type { IJsonSchemaCollection, IValidation } from 'typia';
import type { Sought } from '../../browser-pool/contract/look.js';
import type { Signature } from '../../browser-pool/contract/signature.js';
import type { ProgramName } from '../../browser-pool/social/programs/index.js';
import type { FieldError } from '../../storage/model/errors.js';
import type { SimulatedAnswer } from '../simulated/request.js';

/** What a rule may need to know beside the input itself. */
export interface InputContext {
  /** Hash id of the connection's own account, when it is known: `conversation_urn` must name it. */
  ownActor?: string | null;
  /** Domains that `file.download` may reach, subdomains included. */
  providerDomains?: readonly string[];
}

/** What a capability is, whatever its input: the flags decide how its operations run. */
interface Traits {
  /** A write has a write boundary and is never tried again past it (OPS-4). */
  readonly kind: 'read' | 'write';
  /** Needs the scope social:send beside operations:write. */
  readonly send: boolean;
  /** What the connection must be when the turn comes: `session` is health ready, `recruiter` is recruiter.health ready as well. */
  readonly needs: 'nothing' | 'session' | 'recruiter';
  /** The input holds message text or file bytes: stored sealed. */
  readonly sealed: boolean;
  /** Signs in: gets the connection's credentials, and may choose the proxy that its session is pinned to. */
  readonly opensSession?: true;
  /** May ask the connection's user for a code. */
  readonly challenges?: true;
  /** The result holds a file, stored part by part beside the operation's row (OPS-14). */
  readonly storesFile?: true;
  /** What it does, in a line or two of the reference. */
  readonly summary: string;
}

/** A record as its family's file writes it down. `Submitted` differs from the contract's input where a rule waits for the turn. */
interface Definition<S extends Signature, Submitted extends object> extends Traits {
  readonly name: S['name'];
  /** Refuses at submission what contradicts its type; paths begin `$input`. */
  readonly validate: (input: unknown) => IValidation<Submitted>;
  /** Rules that types cannot hold (exactly one of, at least one of, sizes in bytes). Called on valid input only. */
  readonly refine?: (input: Submitted, context: InputContext) => FieldError[];
  /** What is looked at only when the operation's turn comes; a fault ends it `validation_error` (OPS-6). */
  readonly checkInTurn?: (input: Submitted) => FieldError[];
  /** Of a write: what shows, of this input, that it was done; without it nobody can look (OPS-22). */
  readonly sought?: (input: S['input']) => Sought;
  /** Fields whose value no error repeats: message text, file bytes, and addresses that may carry a secret. */
  readonly secretInputs?: readonly (keyof Submitted & string)[];
  /** Input and result as the reference shows them, in this order. */
  readonly schemas: Schemas;
  /** Keywords of JSON Schema for fields of the input, for bounds that are no part of its type. */
  readonly bounds?: { readonly [Field in keyof Submitted]?: Readonly<Record<string, unknown>> };
  /** An input it takes and a result it may give: shown in the reference, and tried by the tests. */
  readonly example: { readonly input: S['input']; readonly result: S['result'] };
  /** How the simulated network answers. */
  readonly simulated: SimulatedAnswer<S>;
}

/** A collection of typia's with two schemas. */
type Schemas = Pick<IJsonSchemaCollection<'3.1'>, 'schemas' | 'components'>;

/**
 * One capability, whole: contract, rules, traits, reference and simulated answer. The page program has the same name
 * (`browser-pool/social/programs/`). What travels with an execution is this record.
 */
export interface Capability<Name extends string = string>
  extends Omit<
    Definition<Signature<Name, Record<string, unknown>>, Record<string, unknown>>,
    'secretInputs' | 'bounds'
  > {
  readonly secretInputs: ReadonlySet<string>;
  readonly bounds: Readonly<Record<string, object>>;
}

/**
 * Makes a record of a definition that was checked against its contract. Does not compile for a capability that has no
 * page program of its name.
 */
export function defineCapability<S extends Signature & { name: ProgramName }, Submitted extends object = S['input']>(
  definition: Definition<S, Submitted>,
): Capability<S['name']> {
  const { secretInputs = [], bounds = {} } = definition;
  // The types of input and result end here: whatever calls the record's functions has validated the input with it.
  return { ...definition, secretInputs: new Set(secretInputs), bounds } as unknown as Capability<S['name']>;
}
