/** An OpenAPI document. */
export interface OpenapiJson {
  /** Version of OpenAPI that it is written in. */
  openapi: string;
  /** Name, version and introduction of the API. */
  info: Record<string, unknown>;
  /** Every route, by its path. */
  paths: Record<string, unknown>;
  /** The callbacks, by the type of event. */
  webhooks: Record<string, unknown>;
  /** What the routes refer to. */
  components: Record<string, unknown>;
}
