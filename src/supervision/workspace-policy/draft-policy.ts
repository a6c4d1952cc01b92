// A policy from history: what people allowed often and never refused becomes a line, with its counts. A person edits and accepts it, so
// nothing here counts by itself. It never allows what somebody refused, nor what no policy may allow: every line is tried on the history.

import { ServerError } from '../../domain/errors.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { Store } from '../../store/store.ts'
import { effectivePolicy } from './effective-policy.ts'
import { findPolicy } from './find-policy.ts'
import { type Judgement, type PolicyLimits, splitPlainCommand } from './judge-request.ts'
import { judgePast, type PastReads, type PastRequest, pastRequests } from './past-requests.ts'
import { readPolicy } from './read-policy.ts'
import { commandLine } from './request-of-call.ts'
import { defaultPolicy, type WorkspacePolicy } from './workspace-policy.ts'

/** So many yeses make a line. */
const ENOUGH = 3
const MOST_SHOWN = 40
const MOST_EXAMPLES = 3
const MOST_AGAINST = 10
const PAUSE_AFTER = 50

interface Counted {
  allowed: number
  refused: number
  /** Who decided. */
  by: string[]
}

interface DraftLine extends Counted {
  what: string
  why: string
}

/** `base`: SHA-256 of the policy file that lies there; null: there is none. */
export type PolicyDraft = Awaited<ReturnType<typeof draftPolicy>> & { base: string | null }

/**
 * `workspaceRoot` is a real path, `since` epoch ms. `edited`: the text that a person made of a draft; left out: a new draft. Throws
 * `invalid_request` with the problems of the text.
 */
export type DraftFromHistory = (workspaceRoot: string, since: number, edited?: string) => Promise<PolicyDraft>

export interface DraftDeps {
  reads: PastReads & { supervised: Pick<Store['supervised'], 'pin'> }
  limits: PolicyLimits
  /** So many requests are looked at. */
  most: number
  /** Lets others work: agents choose how much there is to look at. */
  pause(): Promise<void>
}

export function createDraftFromHistory(deps: DraftDeps): DraftFromHistory {
  const { reads, most } = deps
  return async (workspace, since, edited) => {
    const policy = edited === undefined ? null : policyIn(edited)
    const found = findPolicy(workspace)
    const now = effectivePolicy(await reads.supervised.pin(workspace), found)
    // An agent can write the file, so only what an operator has accepted goes on.
    const current = now.state !== 'pinned' ? null : now.change.change === 'wider' ? now.pinned : now.policy
    const past: PastRequest[] = []
    for await (const one of pastRequests(reads, { since, workspace })) if (past.push(one) > most) break
    const draft = await draftPolicy(past, current, deps, policy)
    return { ...draft, text: edited ?? draft.text, base: found.state === 'text' ? found.sha256 : null }
  }
}

/** Throws `invalid_request` with the problems of the text. */
export function policyIn(text: string): WorkspacePolicy {
  const { policy, problems } = readPolicy(text)
  if (policy !== null) return policy
  throw new ServerError('invalid_request', 'The text is no policy, so it would allow nothing.', {
    problems: problems.map(({ line, column, path, message }) => ({
      pointer: '/text',
      detail: `${line}:${column} ${[path, message].filter(Boolean).join(': ')}`,
    })),
  })
}

/**
 * `current`: the policy that counts now. Its lines stay, unless somebody refused what they allow. `edited`: what a person made of a draft,
 * to see what that would do.
 */
export async function draftPolicy(
  past: readonly PastRequest[],
  current: WorkspacePolicy | null,
  { limits, most, pause }: Omit<DraftDeps, 'reads'>,
  edited: WorkspacePolicy | null = null,
) {
  let steps = 0
  const step = async (): Promise<void> => {
    steps += 1
    if (steps % PAUSE_AFTER === 0) await pause()
  }
  const judge: Judge = async (policy, { request }, within = limits) => {
    await step()
    return judgePast(policy, request, within)
  }
  const looked = past.slice(0, most)
  const alike = grouped(looked)
  const base = current?.enabled === true ? current : EMPTY
  const policy = edited ?? (await chosenPolicy(alike, base, judge, limits, step))
  const kept = new Set(rulesIn(base))
  const lines = rulesIn(policy).map((rule) => ({ rule, examples: [] as string[], ...uncounted() }))
  const open: DraftLine[] = []
  const commands = new Set<string>()
  /** What a person refused and the policy would have let through. Only an edited one does. */
  const against: string[] = []
  let left = 0
  for (const one of alike) {
    const { count, allowed, refused, by, words } = one
    const judgement = await judge(policy, one)
    const what = whatOf(one.request)
    if (!judgement.autoApproved) left += count
    else if (refused > 0) against.push(what)
    if (allowed + refused === 0) continue
    const line = lines.find(({ rule }) => rule === judgement.matchedRule)
    if (line !== undefined) {
      add(line, one)
      if (!line.rule.endsWith(`:${what}`)) line.examples.push(what)
      continue
    }
    open.push({ what, allowed, refused, by, why: whyOpen(one, judgement) })
    // It lacks nothing but its line in the settings.
    const isMissing = words !== null && allowed >= ENOUGH && (await fits(one, judge, { ...limits, allowlist: [words] }))
    if (!isMissing || !isReadable(alone(one))) continue
    const name = words
      .join('-')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
    commands.add(`  ${name.slice(0, 30)}: ${JSON.stringify(words)}`)
  }
  open.sort((a, b) => b.allowed + b.refused - a.allowed - a.refused)
  return {
    /** Of a file. */
    text: textOf(policy),
    /** What each line rests on, by rule, as verdicts name it: `command:npm test`. */
    lines: lines.map(({ rule, examples, ...counts }): DraftLine => {
      const some = examples.slice(0, MOST_EXAMPLES).join(', ')
      const why = [kept.has(rule) ? 'As before.' : '', some === '' ? '' : `For example ${some}`]
        .filter(Boolean)
        .join(' ')
      return { what: rule, why, ...counts }
    }),
    /** What people are still asked and why, most frequent first, and how many more there are. */
    open: open.slice(0, MOST_SHOWN),
    more: Math.max(open.length - MOST_SHOWN, 0),
    /** Lines for `commands` of quarterdeck.yaml, with which the next draft could cover more. */
    commands: [...commands].slice(0, MOST_SHOWN),
    /** The newest requests; `cut`: there were more. People were asked about so many of them, and would still have been asked about so many. */
    replay: {
      requests: looked.length,
      cut: past.length > most,
      asked: looked.filter(({ outcome }) => outcome !== 'auto_approved').length,
      left,
      against: against.slice(0, MOST_AGAINST),
    },
  }
}

type Judge = (policy: WorkspacePolicy, one: Alike, within?: PolicyLimits) => Promise<Judgement>

async function chosenPolicy(
  all: readonly Alike[],
  base: WorkspacePolicy,
  judge: Judge,
  limits: PolicyLimits,
  step: () => Promise<void>,
): Promise<WorkspacePolicy> {
  const left = new Set<Alike>()
  for (const one of all) {
    if ((await fits(one, judge)) && !(await judge(base, one)).autoApproved) left.add(one)
  }
  const refused = all.filter((one) => one.refused > 0)
  const refusedRules = new Set(refused.flatMap(rulesFor))
  const pairs = [...left].flatMap((one) => rulesFor(one).map((rule) => ({ rule, one })))
  // The deepest folder first, a single file or command last.
  const candidates = [...Map.groupBy(pairs, ({ rule }) => rule)].sort(([a], [b]) => depthOf(b) - depthOf(a))
  let policy = base
  for (const [rule, of] of candidates) {
    await step()
    const isFolder = depthOf(rule) > 0
    // A folder needs several files.
    if (isFolder && new Set(of.map(({ one }) => one.rule)).size === 1) continue
    const covered = of.map(({ one }) => one).filter((one) => left.has(one))
    const count = covered.reduce((sum, { allowed }) => sum + allowed, 0)
    if (count < ENOUGH || refusedRules.has(rule)) continue
    if (rule.startsWith(WRITE) && limits.protectedBecause(rule.slice(WRITE.length), 'write') !== null) continue
    const isInside = (other: string): boolean => isFolder && other.startsWith(rule.slice(0, -2))
    const next = withRules(policy, [...rulesIn(policy).filter((other) => !isInside(other)), rule])
    if (!isReadable(next)) continue
    policy = next
    for (const one of covered) left.delete(one)
  }
  // What holds for each new line must hold for all of them together, and for the lines that were there before.
  for (const one of refused) {
    for (let wrong = await judge(policy, one); wrong.autoApproved; wrong = await judge(policy, one)) {
      const right = rulesIn(policy).filter((rule) => rule !== wrong.matchedRule)
      policy = withRules(policy, right)
    }
  }
  return policy
}

/** The same request is one, however often it came. */
interface Alike extends Counted {
  request: PastRequest
  count: number
  /** The narrowest line that could cover it; null: none. */
  rule: string | null
  /** Of a plain command. */
  words: string[] | null
}

function grouped(past: readonly PastRequest[]): Alike[] {
  const found = new Map<string, Alike>()
  for (const request of past) {
    const { toolName, filePath, command, riskLevel, earnedRisk, isClear, outcome, by } = request
    const key = JSON.stringify([toolName, filePath, command, riskLevel, earnedRisk, isClear])
    const one = found.get(key) ?? { request, ...narrowest(request), count: 0, ...uncounted() }
    found.set(key, one)
    one.count += 1
    const [allowed, refused] = [Number(outcome === 'approved'), Number(outcome === 'rejected')]
    if (allowed + refused > 0) add(one, { allowed, refused, by: by === null ? [] : [by] })
  }
  return [...found.values()]
}

const uncounted = (): Counted => ({ allowed: 0, refused: 0, by: [] })

function add(sum: Counted, { allowed, refused, by }: Counted): void {
  sum.allowed += allowed
  sum.refused += refused
  sum.by = [...new Set([...sum.by, ...by])]
}

function narrowest({ command, filePath, toolName, isClear }: PastRequest): Pick<Alike, 'rule' | 'words'> {
  if (command !== null) {
    const split = splitPlainCommand(command)
    const words = 'words' in split ? split.words : null
    const line = commandLine(words)
    return { words, rule: line === null ? null : `command:${line}` }
  }
  // In a line, a wildcard would not stand for itself.
  const isPlain = isClear && !/[*?]/.test(filePath ?? '')
  return { words: null, rule: isPlain ? (filePath === null ? `tool:${toolName}` : WRITE + filePath) : null }
}

/** What was asked, in a line for people. */
const whatOf = ({ command, filePath, toolName }: PastRequest): string =>
  visibleText((command ?? filePath ?? toolName).slice(0, 160)).slice(0, 160)

/** Never what has earned more than a low risk, nor a tool of which nobody knows what it does next. */
const isProposed = ({ allowed, refused, request: { earnedRisk, command, filePath } }: Alike): boolean =>
  allowed > 0 && refused === 0 && (earnedRisk === 'low' || (earnedRisk === null && (command ?? filePath) !== null))

const alone = ({ rule }: Alike): WorkspacePolicy => withRules(EMPTY, rule === null ? [] : [rule])

/** Whether its own line may be proposed, and would let it through. */
const fits = async (one: Alike, judge: Judge, within?: PolicyLimits): Promise<boolean> =>
  isProposed(one) && (await judge(alone(one), one, within)).autoApproved

function whyOpen(one: Alike, { why, personOnly }: Judgement): string {
  if (one.refused > 0) return one.allowed > 0 ? 'People decided both ways.' : 'People refused it.'
  if (!isProposed(one))
    return `Its risk is ${one.request.earnedRisk ?? 'not known'}, and a draft only covers what is low.`
  return one.allowed < ENOUGH && !personOnly ? `It was allowed fewer than ${ENOUGH} times.` : why
}

/** The lines that could cover a request: itself, and of a file each folder that it is in. Never the whole workspace. */
function rulesFor({ rule, request: { command, filePath } }: Alike): string[] {
  const folders = command === null ? (filePath ?? '').split('/').slice(0, -1) : []
  return [
    ...(rule === null ? [] : [rule]),
    ...folders.map((_, at) => `${WRITE}${folders.slice(0, at + 1).join('/')}/**`),
  ]
}

/** 0: no folder. */
const depthOf = (rule: string): number => (rule.endsWith('/**') ? rule.split('/').length : 0)

const EMPTY: WorkspacePolicy = { ...defaultPolicy, enabled: true }
const WRITE = 'file_pattern:write:'
const LISTS = ['command:', 'tool:', WRITE, 'file_pattern:read:']

const rulesIn = ({ commands, tools, filePatterns: { write, read } }: WorkspacePolicy): string[] =>
  [commands, tools, write, read].flatMap((list, i) => list.map((text) => LISTS[i] + text))

function withRules(policy: WorkspacePolicy, rules: readonly string[]): WorkspacePolicy {
  const [commands = [], tools = [], write = [], read = []] = LISTS.map((list) =>
    rules.filter((rule) => rule.startsWith(list)).map((rule) => rule.slice(list.length)),
  )
  return { ...policy, commands, tools, filePatterns: { write, read } }
}

/** Not if there are too many lines, or too long ones. */
const isReadable = (policy: WorkspacePolicy): boolean => readPolicy(textOf(policy)).policy !== null

function textOf({ enabled, commands, tools, filePatterns, ...rest }: WorkspacePolicy): string {
  const { riskLevelThreshold: risk_level_threshold, logAutoApproved: log_auto_approved } = rest
  const reporting = { log_auto_approved, summary_interval_seconds: rest.summaryIntervalSeconds }
  const file = { enabled, commands, tools, file_patterns: filePatterns, risk_level_threshold, ...reporting }
  return `${JSON.stringify(file, null, 2)}\n`
}
