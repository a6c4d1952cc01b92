import type { GrantCondition, Remembered, ShownArgument } from 'quarterdeck/client'

/** What a person picks when they want to be asked less. */
export interface RememberChoice {
  remember: 'once' | 'session' | 'always'
  /** Seconds. Null: until it is revoked. */
  seconds: number | null
  /** Which arguments have to be the same. Null: all of them. */
  same: readonly string[] | null
}

export const ONCE: RememberChoice = { remember: 'once', seconds: null, same: null }

const MINUTE = 60
const DAY = 86_400

export const durations: Readonly<Record<'session' | 'always', readonly { seconds: number | null; words: string }[]>> = {
  session: [
    { seconds: 15 * MINUTE, words: '15 minutes' },
    { seconds: 60 * MINUTE, words: '1 hour' },
    { seconds: 8 * 60 * MINUTE, words: '8 hours' },
  ],
  always: [
    { seconds: null, words: 'until revoked' },
    { seconds: DAY, words: '1 day' },
    { seconds: 30 * DAY, words: '30 days' },
  ],
}

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
  { remember, seconds, same }: RememberChoice,
  args: Readonly<Record<string, unknown>>,
): Remembered {
  if (remember === 'once') return {}
  const where = same === null ? {} : { where: Object.fromEntries(same.map((name) => [name, condition(args[name])])) }
  return { remember, grant: { ...where, seconds } }
}

const condition = (value: unknown): GrantCondition => ({ equals: isScalar(value) ? value : null })

/** What the choice means, in one sentence. */
export function rememberText(
  { remember, seconds, same }: RememberChoice,
  effect: 'run' | 'refuse',
  tool: string,
): string {
  if (remember === 'once') return 'Only this call.'
  const where = remember === 'session' ? 'in this session' : 'in all sessions'
  const words = durations[remember].find((one) => one.seconds === seconds)?.words ?? 'until revoked'
  const until = seconds === null ? words : `for ${words}`
  const like =
    same === null
      ? 'with exactly the same arguments'
      : same.length === 0
        ? 'with any arguments'
        : `with the same ${same.join(', ')}, whatever the other arguments are`
  return `Calls of ${tool} ${like} ${effect === 'run' ? 'run' : 'are refused'} without asking, ${where}, ${until}.`
}
