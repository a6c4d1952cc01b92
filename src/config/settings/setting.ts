import type { z } from 'zod'

/** One setting. The schema says how it is written in quarterdeck.yaml; `T` is what the server gets. */
export interface Setting<T = unknown> {
  schema: z.ZodType<T>
  /**
   * `--port <number>`. A flag without `<…>` is a switch. Null: it has none. A secret never has one, because flags are visible in the
   * process list.
   */
  flag: string | null
  /** Whether the flag may be given several times. */
  repeatable: boolean
  /** Environment variables; the first one that is set counts. Our own name comes first. None: it can only be set in the file. */
  env: readonly string[]
  default: T
  /** The default in words. */
  defaultText: string
  description: string
  example: unknown
  secret: boolean
  /** A secret may stand somewhere in it, such as a password in an address. */
  holdsSecrets: boolean
  /** Whether it is a path, or a list of entries with a `path`. In quarterdeck.yaml, a path is relative to that file. */
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
  holdsSecrets?: boolean
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
    holdsSecrets: input.holdsSecrets ?? input.secret ?? false,
    path: input.path ?? false,
  }
}

/** It has no flag and no variable: who decides, what runs and where messages go must not come from a `.env` that an agent can write. */
export const fileSetting = <T>(input: Omit<SettingInput<T>, 'flag' | 'env'>): Setting<T> =>
  setting({ ...input, flag: null, env: [] })

/** `--cors-origins <origins>` -> `--cors-origins` */
export const flagName = (flag: string): string => flag.replace(/ .*$/, '')
