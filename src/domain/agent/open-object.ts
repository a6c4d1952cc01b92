/** True for the schema of `json_object`: any object will do. Providers have no schema for that, only a mode or words. */
export const isOpenObject = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema.type === 'object' && Object.keys(schema).length === 1
