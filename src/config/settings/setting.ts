import type { z } from 'zod'

/** One setting, as the tables have it. The schema says how it is written in quarterdeck.yaml; `T` is what the server gets. */
export interface SettingRow<T = unknown> {
  schema: z.ZodType<T>
  /**
   * `--port <number>`. A flag without `<…>` is a switch. Null: it has none. A secret never has one, because flags are visible in the
   * process list.
   */
  flag: string | null
  /** Whether the flag may be given several times. */
  repeatable: boolean
  /** The name of its environment variable, if it is not made from the key. */
  variable: string | null
  /** Other names of the variable. Null: it can only be set in the file. */
  variables: readonly string[] | null
  default: T
  /** The default in words. */
  defaultText: string
  description: string
  example: unknown
  secret: boolean
  /** A secret may stand somewhere in it, such as a password in an address. */
  holdsSecrets: boolean
  /** Whether it is a path, or a list of paths or of entries with a `path`. In quarterdeck.yaml, a path is relative to that file. */
  path: boolean
}

export interface Setting<T = unknown> extends SettingRow<T> {
  /** Environment variables; the first one that is set counts. */
  env: readonly string[]
}

type SettingInput<T> = Pick<SettingRow<T>, 'schema' | 'description' | 'example'> &
  Partial<Omit<SettingRow<T>, 'default'>> & { default: NoInfer<T>; expected?: string }

export function setting<T>({ expected, ...input }: SettingInput<T>): SettingRow<T> {
  const { description, example } = input
  const facts = { description, example }
  return {
    flag: null,
    repeatable: false,
    variable: null,
    variables: [],
    defaultText: isNothing(input.default) ? 'none' : String(input.default),
    secret: false,
    holdsSecrets: input.secret ?? false,
    path: false,
    ...input,
    schema: input.schema.meta(expected === undefined ? facts : { ...facts, expected }),
  }
}

const isNothing = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0)

/** It has no flag and no variable: who decides, what runs and where messages go must not come from a `.env` that an agent can write. */
export const fileSetting = <T>(input: Omit<SettingInput<T>, 'flag' | 'variable' | 'variables'>): SettingRow<T> =>
  setting<T>({ ...input, variables: null })

/** The variable of `log.level` is QUARTERDECK_LOG_LEVEL. */
export function withVariables<T>(key: string, row: SettingRow<T>): Setting<T> {
  const own = row.variable ?? `QUARTERDECK_${key.toUpperCase().replace('.', '_')}`
  return { ...row, env: row.variables === null ? [] : [own, ...row.variables] }
}

/** `--cors-origins <origins>` -> `--cors-origins` */
export const flagName = (flag: string): string => flag.replace(/ .*$/, '')
