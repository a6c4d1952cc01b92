import type { z } from 'zod'

/** One setting. The value is what the server gets; the schema says how it is written in quarterdeck.yaml. */
export interface Setting<T = unknown> {
  schema: z.ZodType<T>
  /** `--port <number>`; null where a flag would show a secret in the process list. A flag without `<…>` is a switch. */
  flag: string | null
  /** The flag may be given several times. */
  repeatable: boolean
  /** Variables, the first that is set counts; ours comes first. */
  env: readonly string[]
  default: T
  /** The default in words, where the value alone says too little. */
  defaultText: string
  description: string
  example: unknown
  secret: boolean
  /** A path; in quarterdeck.yaml it is relative to that file. */
  path: boolean
}

interface SettingInput<T> {
  schema: z.ZodType<T>
  description: string
  example: unknown
  default: NoInfer<T>
  flag: string | null
  env: readonly string[]
  expected?: string
  defaultText?: string
  repeatable?: boolean
  secret?: boolean
  path?: boolean
}

export function setting<T>(input: SettingInput<T>): Setting<T> {
  const { description, example, expected } = input
  return {
    ...input,
    schema: input.schema.meta({ description, example, ...(expected === undefined ? {} : { expected }) }),
    defaultText: input.defaultText ?? String(input.default),
    repeatable: input.repeatable ?? false,
    secret: input.secret ?? false,
    path: input.path ?? false,
  }
}

/** `--cors-origins <origins>` -> `--cors-origins` */
export const flagName = (flag: string): string => flag.replace(/ .*$/, '')
