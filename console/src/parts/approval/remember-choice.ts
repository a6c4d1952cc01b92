import type { Approval, GrantCondition, RecordView, Remembered, ShownArgument } from 'quarterdeck/client'

type Offer = NonNullable<RecordView['remember']>
export type Scope = Offer['scopes'][number]
type Match = Offer['matches'][number]

/** What a person picks when they want to be asked less. */
export interface RememberChoice {
  /** Null: only this call. */
  scope: Scope | null
  /** Which work of an agent elsewhere. Null: the same call again. */
  match: Match | null
  /** Of our own agents: which arguments have to be the same. Null: all of them. */
  same: readonly string[] | null
}

export const ONCE: RememberChoice = { scope: null, match: null, same: null }

/** The narrowest of what the server offers. */
export const firstOffer = ({ view: { remember } }: Pick<Approval, 'view'>): RememberChoice => ({
  ...{ scope: remember?.scopes[0] ?? null, match: remember?.matches[0] ?? null, same: null },
})

/** How far it reaches, and how long. */
export const scopeWords = (scope: Scope, isElsewhere: boolean): string =>
  ({
    session: isElsewhere ? 'until this session ends' : 'in this session, for 15 minutes',
    '15m': isElsewhere ? 'in this workspace, for 15 minutes' : 'in all sessions, for 15 minutes',
    workspace: 'in this workspace, until revoked',
    always: 'in all sessions, until revoked',
  })[scope]

type Scalar = string | number | boolean | null

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

interface Compared {
  arguments: Readonly<Record<string, unknown>>
  shown: { arguments: readonly Pick<ShownArgument, 'name' | 'secret'>[] }
}

/** Arguments that can be compared one by one: those with a single value that is not masked. */
export function comparable({ arguments: args, shown }: Compared): string[] {
  const isSecret = (name: string) => shown.arguments.some((one) => one.name === name && one.secret)
  return Object.keys(args).filter((name) => isScalar(args[name]) && !isSecret(name) && !name.includes('.'))
}

/** As the server takes it. */
export function rememberedAs(
  { scope, match, same }: RememberChoice,
  { arguments: args }: Pick<Compared, 'arguments'>,
): Remembered {
  if (scope === null) return {}
  if (match !== null) return { remember: scope, grant: { match: match.match } }
  if (same === null) return { remember: scope }
  return { remember: scope, grant: { where: Object.fromEntries(same.map((name) => [name, condition(args[name])])) } }
}

const condition = (value: unknown): GrantCondition => ({ equals: isScalar(value) ? value : null })

/** Which work it is about. */
export function matchWords({ match, same }: RememberChoice, tool: string): string {
  if (match !== null) return match.label
  if (same === null) return `Calls of ${tool} with exactly the same arguments`
  if (same.length === 0) return `Calls of ${tool} with any arguments`
  return `Calls of ${tool} with the same ${same.join(', ')}, whatever the other arguments are`
}
