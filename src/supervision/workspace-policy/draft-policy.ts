// A policy from history: what people allowed often and never refused becomes a line, with its counts. A person edits and accepts it, so
// nothing here counts by itself. It never allows what somebody refused, nor what no policy may allow: every line is tried on the history.

import { visibleText } from '../../domain/text/visible-text.ts'
import {
  type Judgement,
  judgeRequest,
  type PastRequest,
  type PolicyLimits,
  splitPlainCommand,
} from './judge-request.ts'
import { readPolicy } from './read-policy.ts'
import { commandLine } from './request-of-call.ts'
import { defaultPolicy, type WorkspacePolicy } from './workspace-policy.ts'

/** So many yeses make a line. */
const ENOUGH = 3
const MOST_SHOWN = 40
const MOST_EXAMPLES = 3

interface Counted {
  allowed: number
  refused: number
  /** Who decided. */
  by: string[]
}

export interface PolicyDraft {
  policy: WorkspacePolicy
  /** The policy as the text of a file. */
  text: string
  /** By rule, as verdicts name it: `command:npm test`. `kept`: a line of the policy that counts now. */
  lines: (Counted & { rule: string; kept: boolean; examples: string[] })[]
  /** What people are still asked and why, most frequent first, and how many more there are. */
  open: (Counted & { what: string; why: string })[]
  more: number
  /** Lines for `commands` of quarterdeck.yaml, with which the next draft could cover more. */
  commands: string[]
}

/**
 * `current`: the policy that counts now. Its lines stay, unless somebody refused what they allow. `edited`: what a person made of a draft,
 * to see what that would do.
 */
export function draftPolicy(
  past: readonly PastRequest[],
  current: WorkspacePolicy | null,
  limits: PolicyLimits,
  edited: WorkspacePolicy | null = null,
): PolicyDraft {
  const decided = grouped(past)
  const base = current?.enabled === true ? current : EMPTY
  const judge: Judge = (policy, { request }, within = limits) =>
    request.isClear ? judgeRequest(policy, { ...request, guarded: null }, within) : null
  const policy = edited ?? chosenPolicy(decided, base, judge, limits)
  const kept = new Set(rulesIn(base))
  const lines = new Map(
    rulesIn(policy).map((rule): [string, PolicyDraft['lines'][number]] => [
      rule,
      { rule, kept: kept.has(rule), allowed: 0, refused: 0, by: [], examples: [] },
    ]),
  )
  const open: PolicyDraft['open'] = []
  const missing = new Set<string>()
  for (const one of decided) {
    const { what, allowed, refused, by, rule, words } = one
    const judged = judge(policy, one)
    const line = lines.get(judged?.matchedRule ?? '')
    if (line !== undefined) {
      add(line, one)
      if (line.examples.length < MOST_EXAMPLES) line.examples.push(what)
      continue
    }
    open.push({ what, allowed, refused, by, why: whyOpen(one, judged?.why ?? UNCLEAR) })
    if (rule === null || words === null || !isProposed(one) || allowed < ENOUGH) continue
    const alone = withRules(EMPTY, [rule])
    // It lacks nothing but its line in the settings.
    if (judge(alone, one, { ...limits, allowlist: [words] })?.autoApproved && isReadable(alone)) {
      const name = words
        .join('-')
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .slice(0, 30)
      missing.add(`  ${name}: ${JSON.stringify(words)}`)
    }
  }
  open.sort((a, b) => b.allowed + b.refused - a.allowed - a.refused)
  const more = Math.max(open.length - MOST_SHOWN, 0)
  const commands = [...missing].slice(0, MOST_SHOWN)
  return { policy, text: textOf(policy), lines: [...lines.values()], open: open.slice(0, MOST_SHOWN), more, commands }
}

type Judge = (policy: WorkspacePolicy, one: Decided, within?: PolicyLimits) => Judgement | null

function chosenPolicy(decided: readonly Decided[], base: WorkspacePolicy, judge: Judge, limits: PolicyLimits) {
  const passes = (policy: WorkspacePolicy, one: Decided): boolean => judge(policy, one)?.autoApproved === true
  const fit = decided.filter((one) => isProposed(one) && one.rule !== null && passes(withRules(EMPTY, [one.rule]), one))
  const refused = decided.filter((one) => one.refused > 0)
  const refusedRules = new Set(refused.flatMap(rulesFor))
  const covered = new Set(fit.filter((one) => passes(base, one)))
  let policy = base
  for (const [rule, of] of candidates(fit)) {
    const left = of.filter((one) => !covered.has(one))
    const count = left.reduce((sum, { allowed }) => sum + allowed, 0)
    const isProtected = rule.startsWith(WRITE) && limits.protectedBecause(rule.slice(WRITE.length), 'write') !== null
    if (count < ENOUGH || refusedRules.has(rule) || isProtected) continue
    const isInside = (one: string): boolean => rule.endsWith('/**') && one.startsWith(rule.slice(0, -2))
    const next = withRules(policy, [...rulesIn(policy).filter((one) => !isInside(one)), rule])
    if (!isReadable(next)) continue
    policy = next
    for (const one of left) covered.add(one)
  }
  // What holds for each new line must hold for all of them together, and for the lines that were there before.
  for (;;) {
    const wrong = refused.map((one) => judge(policy, one)).find((one) => one?.autoApproved)?.matchedRule
    if (!wrong) return policy
    policy = withRules(
      policy,
      rulesIn(policy).filter((rule) => rule !== wrong),
    )
  }
}

interface Decided extends Counted {
  request: PastRequest
  /** With every character visible. */
  what: string
  /** The narrowest line that could cover it; null: none. */
  rule: string | null
  /** Of a plain command. */
  words: string[] | null
}

/** The same request is one, however often people decided about it. */
function grouped(past: readonly PastRequest[]): Decided[] {
  const found = new Map<string, Decided>()
  for (const request of past) {
    const { toolName, filePath, command, riskLevel, earnedRisk, isClear, outcome, by } = request
    if (outcome !== 'approved' && outcome !== 'rejected') continue
    const key = JSON.stringify([toolName, filePath, command, riskLevel, earnedRisk, isClear])
    const one = found.get(key) ?? { request, ...namesOf(request), allowed: 0, refused: 0, by: [] }
    const isYes = outcome === 'approved'
    add(one, { allowed: isYes ? 1 : 0, refused: isYes ? 0 : 1, by: by === null ? [] : [by] })
    found.set(key, one)
  }
  return [...found.values()]
}

function add(sum: Counted, { allowed, refused, by }: Counted): void {
  sum.allowed += allowed
  sum.refused += refused
  sum.by = [...new Set([...sum.by, ...by])]
}

function namesOf(request: PastRequest): Pick<Decided, 'what' | 'rule' | 'words'> {
  const { command, filePath, toolName, isClear } = request
  const what = whatOf(request)
  if (command !== null) {
    const split = splitPlainCommand(command)
    const words = 'words' in split ? split.words : null
    const line = commandLine(words)
    return { what, words, rule: line === null ? null : `command:${line}` }
  }
  // In a line, a wildcard would not stand for itself.
  const isPlain = isClear && !/[*?]/.test(filePath ?? '')
  return { what, words: null, rule: isPlain ? (filePath === null ? `tool:${toolName}` : WRITE + filePath) : null }
}

/** What was asked, in a line for people. */
export const whatOf = ({ command, filePath, toolName }: PastRequest): string =>
  visibleText((command ?? filePath ?? toolName).slice(0, 160)).slice(0, 160)

/** Never what has earned more than a low risk, nor a tool of which nobody knows what it does next. */
const isProposed = ({ refused, request: { earnedRisk, command, filePath } }: Decided): boolean =>
  refused === 0 && (earnedRisk === 'low' || (earnedRisk === null && (command ?? filePath) !== null))

const UNCLEAR = 'It is not clear which file the call touches or which command it runs.'

function whyOpen(one: Decided, why: string): string {
  if (one.refused > 0) return one.allowed > 0 ? 'People decided both ways.' : 'People refused it.'
  if (!isProposed(one))
    return `Its risk is ${one.request.earnedRisk ?? 'not known'}, and a draft only covers what is low.`
  // The judge has no other reason than that there is no line.
  const isRare = one.allowed < ENOUGH && /^The policy (?:lists|does not list)/.test(why)
  return isRare ? `It was allowed fewer than ${ENOUGH} times.` : why
}

/** Each line with what it covers: the deepest folder first, a single file or command last. */
function candidates(fit: readonly Decided[]): [rule: string, of: Decided[]][] {
  const found = new Map<string, Decided[]>()
  for (const one of fit) {
    for (const rule of rulesFor(one)) if (found.get(rule)?.push(one) === undefined) found.set(rule, [one])
  }
  const depth = (rule: string): number => (rule.endsWith('/**') ? rule.split('/').length : 0)
  // A folder needs several files.
  const earned = [...found].filter(([rule, of]) => depth(rule) === 0 || new Set(of.map((one) => one.rule)).size > 1)
  return earned.sort(([a], [b]) => depth(b) - depth(a))
}

/** The lines that could cover a request: itself, and of a file each folder that it is in. Never the whole workspace. */
function rulesFor({ rule, request: { command, filePath } }: Decided): string[] {
  const folders = command === null ? (filePath ?? '').split('/').slice(0, -1) : []
  return [
    ...(rule === null ? [] : [rule]),
    ...folders.map((_, at) => `${WRITE}${folders.slice(0, at + 1).join('/')}/**`),
  ]
}

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
