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
/** As many as anybody reads. A policy takes 100 of each kind. */
const MOST_LINES = 40
const MOST_OPEN = 40
const MOST_EXAMPLES = 3
const SHOWN_CHARS = 160

interface Counted {
  allowed: number
  refused: number
  /** Who decided. */
  by: string[]
  /** Of what was asked, with every character visible. */
  examples: string[]
}

interface DraftedLine extends Counted {
  /** `command:npm test`, `tool:Read`, `file_pattern:write:src/**`, as in verdicts. */
  rule: string
  /** It is a line of the policy that counts now. */
  isKept: boolean
}

interface OpenLine extends Counted {
  what: string
  /** Why the draft has no line for it. */
  why: string
}

export interface PolicyDraft {
  policy: WorkspacePolicy
  /** The policy as the text of a file. */
  text: string
  lines: DraftedLine[]
  /** What people are still asked, most frequent first; `moreOpen` are not listed. */
  open: OpenLine[]
  moreOpen: number
  /** Lines for `commands` of quarterdeck.yaml, with which the next draft could cover more. */
  commands: string[]
}

const EMPTY: WorkspacePolicy = { ...defaultPolicy, enabled: true }

type Entry = readonly [list: 'commands' | 'tools' | 'write', text: string]

/** `current`: the policy that counts now. Its lines stay, unless somebody refused what they allow. */
export function draftPolicy(
  past: readonly PastRequest[],
  current: WorkspacePolicy | null,
  limits: PolicyLimits,
): PolicyDraft {
  const decided = grouped(past)
  const base = current?.enabled === true ? current : EMPTY
  const judge: JudgeDecided = (policy, { request }) =>
    request.isClear ? judgeRequest(policy, { ...request, guarded: null }, limits) : null
  const policy = chosenPolicy(decided, base, judge, limits)

  const keptRules = new Set(entriesOf(base).map(ruleOf))
  const lines = new Map<string, DraftedLine>()
  for (const rule of entriesOf(policy).map(ruleOf)) {
    lines.set(rule, { rule, isKept: keptRules.has(rule), allowed: 0, refused: 0, by: [], examples: [] })
  }
  const open: OpenLine[] = []
  const missing: (readonly string[])[] = []
  for (const one of decided) {
    const judged = judge(policy, one)
    const line = lines.get(judged?.matchedRule ?? '')
    if (line !== undefined) {
      addTo(line, one)
      continue
    }
    const { what, allowed, refused, by, examples } = one
    open.push({ what, allowed, refused, by, examples, why: whyOpen(one, judged?.why ?? UNCLEAR) })
    const words = missingCommand(one, limits)
    if (words !== null) missing.push(words)
  }
  open.sort((a, b) => b.allowed + b.refused - a.allowed - a.refused)
  return {
    policy,
    text: textOf(policy),
    lines: [...lines.values()],
    open: open.slice(0, MOST_OPEN),
    moreOpen: Math.max(open.length - MOST_OPEN, 0),
    commands: settingLines(missing.slice(0, MOST_LINES)),
  }
}

type JudgeDecided = (policy: WorkspacePolicy, one: Decided) => Judgement | null

function chosenPolicy(decided: readonly Decided[], base: WorkspacePolicy, judge: JudgeDecided, limits: PolicyLimits) {
  const passes = (policy: WorkspacePolicy, one: Decided): boolean => judge(policy, one)?.autoApproved === true
  const fit = decided.filter(
    (one) => one.refused === 0 && isLow(one) && one.entry !== null && passes(withEntries(EMPTY, [one.entry]), one),
  )
  const refused = decided.filter((one) => one.refused > 0)
  const refusedRules = new Set(refused.flatMap((one) => linesFor(one, () => true).map(ruleOf)))
  const covered = new Set(fit.filter((one) => passes(base, one)))
  const most = entriesOf(base).length + MOST_LINES
  let policy = base
  for (const { entry, of } of candidates(fit)) {
    const left = of.filter((one) => !covered.has(one))
    const count = left.reduce((sum, { allowed }) => sum + allowed, 0)
    const isProtected = entry[0] === 'write' && limits.protectedBecause(entry[1], 'write') !== null
    if (count < ENOUGH || refusedRules.has(ruleOf(entry)) || isProtected) continue
    const next = withEntries(policy, [...entriesOf(policy).filter((one) => !isInside(one, entry)), entry])
    if (entriesOf(next).length > most || readPolicy(textOf(next)).policy === null) continue
    policy = next
    for (const one of left) covered.add(one)
  }
  // What holds for each new line must hold for all of them together, and for the lines that were there before.
  for (;;) {
    const wrong = refused.map((one) => judge(policy, one)).find((one) => one?.autoApproved)
    if (!wrong?.matchedRule) return policy
    policy = withoutRule(policy, wrong.matchedRule)
  }
}

/** A folder inside another one that has a line. */
const isInside = ([list, text]: Entry, [, wider]: Entry): boolean =>
  list === 'write' && wider.endsWith('/**') && text.startsWith(wider.slice(0, -2))

const UNCLEAR = 'It is not clear which file the call touches or which command it runs.'

interface Decided extends Counted {
  request: PastRequest
  what: string
  /** The narrowest line that could cover it; null: none. */
  entry: Entry | null
}

/** The same request is one, however often people decided about it. */
function grouped(past: readonly PastRequest[]): Decided[] {
  const found = new Map<string, Decided>()
  for (const request of past) {
    const { toolName, filePath, command, riskLevel, earnedRisk, isClear, outcome, by } = request
    if (outcome !== 'approved' && outcome !== 'rejected') continue
    const key = JSON.stringify([toolName, filePath, command, riskLevel, earnedRisk, isClear])
    const what = visibleText((command ?? filePath ?? toolName).slice(0, SHOWN_CHARS)).slice(0, SHOWN_CHARS)
    const one = found.get(key) ?? {
      request,
      what,
      entry: entryOf(request),
      allowed: 0,
      refused: 0,
      by: [],
      examples: [what],
    }
    addTo(one, {
      allowed: Number(outcome === 'approved'),
      refused: Number(outcome === 'rejected'),
      by: by === null ? [] : [by],
      examples: [],
    })
    found.set(key, one)
  }
  return [...found.values()]
}

function addTo(sum: Counted, { allowed, refused, by, examples }: Counted): void {
  sum.allowed += allowed
  sum.refused += refused
  for (const name of by) if (!sum.by.includes(name)) sum.by.push(name)
  if (sum.examples.length < MOST_EXAMPLES) sum.examples.push(...examples.slice(0, MOST_EXAMPLES - sum.examples.length))
}

/** Null: a text in which a wildcard stands for itself, or that no line can spell. */
function entryOf({ command, filePath, toolName, isClear }: PastRequest): Entry | null {
  if (!isClear) return null
  if (command !== null) {
    const line = commandLine(wordsOf(command))
    return line === null ? null : ['commands', line]
  }
  if (filePath === null) return ['tools', toolName]
  return /[*?]/.test(filePath) ? null : ['write', filePath]
}

/** A tool of which nobody knows what it does is no line: the line would cover whatever it does next. */
const isLow = ({ request: { earnedRisk, command, filePath } }: Decided): boolean =>
  earnedRisk === 'low' || (earnedRisk === null && (command !== null || filePath !== null))

interface Candidate {
  entry: Entry
  of: Decided[]
}

/** Lines that cover several requests, the narrowest first, then those for one. */
function candidates(fit: readonly Decided[]): Candidate[] {
  const found = new Map<string, Candidate>()
  for (const one of fit) {
    for (const entry of linesFor(one, (word) => PLAIN_WORD.test(word))) {
      const candidate = found.get(ruleOf(entry)) ?? { entry, of: [] }
      candidate.of.push(one)
      found.set(ruleOf(entry), candidate)
    }
  }
  const depth = ({ entry: [, text] }: Candidate): number => (text.includes('*') ? text.split('/').length : 0)
  return [...found.values()].filter(isEarned).sort((a, b) => depth(b) - depth(a))
}

/** A wildcard needs several that differ. */
function isEarned({ entry: [list, text], of }: Candidate): boolean {
  const different = new Set(of.map((one) => one.entry?.[1])).size
  return !text.includes('*') || different >= (list === 'write' ? 2 : ENOUGH)
}

/** No option, and nothing that could be a path. */
const PLAIN_WORD = /^\w[\w@:-]*$/

/** The lines that could cover a request. Of a command, one argument after the program and its verb may differ. */
function linesFor({ entry, request }: Decided, mayDiffer: (word: string) => boolean): Entry[] {
  if (entry === null) return request.filePath === null ? [] : foldersOf(request.filePath)
  const [list, text] = entry
  if (list === 'tools') return [entry]
  if (list === 'write') return [entry, ...foldersOf(text)]
  const words = wordsOf(text)
  const spelled = words.map((word) => commandLine([word]) ?? '')
  const differing = words.flatMap((word, at) => (at >= 2 && mayDiffer(word) ? [spelled.with(at, '*').join(' ')] : []))
  return [entry, ...differing.map((line): Entry => [list, line])]
}

/** Never the workspace itself. */
function foldersOf(path: string): Entry[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, at) => ['write', `${parts.slice(0, at + 1).join('/')}/**`])
}

const entriesOf = ({ commands, tools, filePatterns }: WorkspacePolicy): Entry[] => [
  ...commands.map((text): Entry => ['commands', text]),
  ...tools.map((text): Entry => ['tools', text]),
  ...filePatterns.write.map((text): Entry => ['write', text]),
]

function withEntries(policy: WorkspacePolicy, entries: readonly Entry[]): WorkspacePolicy {
  const of = (list: Entry[0]): string[] => entries.filter(([one]) => one === list).map(([, text]) => text)
  const filePatterns = { write: of('write'), read: policy.filePatterns.read }
  return { ...policy, commands: of('commands'), tools: of('tools'), filePatterns }
}

function withoutRule(policy: WorkspacePolicy, rule: string): WorkspacePolicy {
  const { read, write } = policy.filePatterns
  const isOther = (entry: Entry): boolean => ruleOf(entry) !== rule
  const filePatterns = { write, read: read.filter((one) => `file_pattern:read:${one}` !== rule) }
  return withEntries({ ...policy, filePatterns }, entriesOf(policy).filter(isOther))
}

const RULES = { commands: 'command', tools: 'tool', write: 'file_pattern:write' } as const
const ruleOf = ([list, text]: Entry): string => `${RULES[list]}:${text}`

function textOf(policy: WorkspacePolicy): string {
  const { enabled, commands, tools, filePatterns, riskLevelThreshold } = policy
  const { logAutoApproved: log_auto_approved, summaryIntervalSeconds: summary_interval_seconds } = policy
  const lists = { commands, tools, file_patterns: filePatterns, risk_level_threshold: riskLevelThreshold }
  return `${JSON.stringify({ enabled, ...lists, log_auto_approved, summary_interval_seconds }, null, 2)}\n`
}

function whyOpen(one: Decided, why: string): string {
  if (one.refused > 0) return one.allowed > 0 ? 'People decided both ways.' : 'People refused it.'
  if (!isLow(one)) return `Its risk is ${one.request.earnedRisk ?? 'not known'}, and a draft only covers what is low.`
  // The reason of the judge is that there is no line.
  return /^The policy (?:lists|does not list)/.test(why) && one.allowed < ENOUGH
    ? `It was allowed fewer than ${ENOUGH} times.`
    : why
}

/** The words of a command that only the server's settings keep from a line. */
function missingCommand(one: Decided, limits: PolicyLimits): readonly string[] | null {
  const { request, entry } = one
  if (one.refused > 0 || one.allowed < ENOUGH || !isLow(one) || entry === null || request.command === null) return null
  const words = wordsOf(request.command)
  const listed = { ...limits, allowlist: [words] }
  const { autoApproved } = judgeRequest(withEntries(EMPTY, [entry]), { ...request, guarded: null }, listed)
  return autoApproved && readPolicy(textOf(withEntries(EMPTY, [entry]))).policy !== null ? words : null
}

/** None: no policy covers the command. */
function wordsOf(command: string): string[] {
  const split = splitPlainCommand(command)
  return 'words' in split ? split.words : []
}

function settingLines(commands: readonly (readonly string[])[]): string[] {
  const names = new Set<string>()
  return commands.map((words) => {
    const base =
      words
        .join('-')
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .slice(0, 30)
        .replaceAll(/^-|-$/g, '') || 'command'
    let name = base
    for (let n = 2; names.has(name); n += 1) name = `${base}-${n}`
    names.add(name)
    return `  ${name}: ${JSON.stringify(words)}`
  })
}
