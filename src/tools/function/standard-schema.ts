// The part of https://standardschema.dev that we use. Zod, Valibot, ArkType and others implement it.

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

/** Some libraries' schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value))
    return false
  const standard = value['~standard']
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  )
}

/** `days: Too small; unit: Invalid option` */
export function explainIssues(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ message, path = [] }) => {
      const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
      return place === '' ? message : `${place}: ${message}`
    })
    .join('; ')
}
