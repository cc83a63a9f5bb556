import typia, { type tags } from 'typia';

/**
 * The small types that inputs are made of (contract: "Limits"). Bounds that no type can hold stand in `limits.ts`.
 * Lengths count Unicode code points, which is what the `u` flag of these patterns counts by; JavaScript's own
 * `length` counts UTF-16 units and would refuse a name of 100 emoji (HTTP-17).
 *
 * Lone surrogates (`\p{Cs}`) are no characters and PostgreSQL cannot store them: they are refused with the controls.
 * Each tag has a name of its own, since that name is what a refused caller reads as `expected`.
 */

type Checked<Kind extends string, Validate extends string, Schema extends object> = {
  target: 'string';
  kind: Kind;
  value: undefined;
  validate: Validate;
  exclusive: true;
  schema: Schema;
};

type Characters<Min extends number, Max extends number> = tags.TagBase<
  Checked<'characters', `/^[^\\p{Cc}\\p{Cs}]{${Min},${Max}}$/u.test($input)`, { minLength: Min; maxLength: Max }>
>;
type MessageCharacters<Min extends number, Max extends number> = tags.TagBase<
  Checked<
    'messageCharacters',
    `/^(?:[^\\p{Cc}\\p{Cs}]|[\\n\\t]){${Min},${Max}}$/u.test($input)`,
    { minLength: Min; maxLength: Max }
  >
>;
type PasswordCharacters<Max extends number> = tags.TagBase<
  Checked<
    'passwordCharacters',
    `/^(?:[^\\p{Cc}\\p{Cs}]|\\t){1,${Max}}$/u.test($input)`,
    { minLength: 1; maxLength: Max }
  >
>;
type FileNameCharacters<Min extends number, Max extends number> = tags.TagBase<
  Checked<
    'fileNameCharacters',
    `/^[^\\p{Cc}\\p{Cs}/\\\\]{${Min},${Max}}$/u.test($input)`,
    { minLength: Min; maxLength: Max }
  >
>;
// `type/subtype` with parameters, as RFC 9110 writes them, with the names of RFC 6838.
type MediaTypeName = tags.TagBase<
  Checked<
    'mediaType',
    `/^[A-Za-z0-9][\\w!#$&^.+-]{0,126}\\/[A-Za-z0-9][\\w!#$&^.+-]{0,126}(?:[ \\t]*;[ \\t]*[\\w!#$%&'*+.^\`|~-]+=(?:[\\w!#$%&'*+.^\`|~-]+|"[ !#-\\[\\]-~]*"))*$/.test($input)`,
    { maxLength: 255 }
  >
>;

/** An empty object: the capability takes no input. */
export type NoInput = Record<string, never>;

/** Free text: any character but controls. */
export type Text<Min extends number, Max extends number> = string & Characters<Min, Max>;

/** A message: free text that may hold newline and tab. */
export type MessageText<Min extends number, Max extends number> = string & MessageCharacters<Min, Max>;

/** What a person may have for a password: free text that may hold a tab. */
export type PasswordText = string & PasswordCharacters<1024>;

/** Free text without slashes of either kind. */
export type FileName = string & FileNameCharacters<1, 255>;

export type MediaType = string & tags.MaxLength<255> & MediaTypeName;

/** Padded base64; whether it is any is checked together with its decoded size. */
export type Base64 = string & tags.MinLength<1>;

/** Public slug of a profile or company. */
export type PublicId = string & tags.Pattern<'^[A-Za-z0-9_.-]{1,255}$'>;

/**
 * Marks a value that names a person to the network: an id, a public slug, an address. An erasure finds people by these fields alone
 * (STO-7). The keys of a record whose values have it name people too.
 */
type NamesPerson = tags.JsonSchemaPlugin<{ 'x-names-person': true }>;

/** As the network gives it. */
export type PersonId = string & NamesPerson;

/** Public slug of a profile. */
export type ProfileSlug = PublicId & NamesPerson;

/** Hash id of a person, as a caller names them. */
export type Recipient = ProviderId & NamesPerson;

/** A search's filter by the hash id of a person. */
export type PersonFilter = FilterText & NamesPerson;

/** A provider's hash id of a person, or an id that a conversation read gave. */
export type ProviderId = string & tags.Pattern<'^[A-Za-z0-9_+=-]{1,255}$'>;

/** True for a text that a recipient field takes. */
export const isProviderId: (text: unknown) => boolean = typia.createIs<ProviderId>();

/** `urn:social:conversation:(<own actor hash id>,<conversation id>)` (OPS-18). */
export type ConversationUrn = string &
  tags.Pattern<'^urn:social:conversation:[(][A-Za-z0-9_+=-]{1,255},[A-Za-z0-9_+=-]{1,255}[)]$'>;

/** A decimal timestamp in milliseconds: an integer, or its 1–16 digits (OPS-18). */
export type Moment =
  | (number & tags.Type<'uint64'> & tags.Maximum<9007199254740991>)
  | (string & tags.Pattern<'^[0-9]{1,16}$'>);

/**
 * Plain items of which no two are the same, compared in one pass. Not typia's own tag: that compares every item with every other,
 * and deeply.
 */
export type Distinct = tags.TagBase<{
  target: 'array';
  kind: 'distinct';
  value: undefined;
  validate: `new Set($input).size === $input.length`;
  exclusive: true;
  schema: { uniqueItems: true };
}>;

export type Integer<Min extends number, Max extends number> = number &
  tags.Type<'int32'> &
  tags.Minimum<Min> &
  tags.Maximum<Max>;

export type Cursor = Text<1, 512>;
export type Keyword = Text<1, 100>;
export type SearchKeywords = Text<0, 200>;
export type FilterText = Text<0, 100>;
export type SearchStart = Integer<0, 1000>;
export type SearchCount = Integer<1, 50>;
export type InboxCount = Integer<1, 20>;
