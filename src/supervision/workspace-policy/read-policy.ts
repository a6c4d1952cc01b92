// The text of a policy file as checked data. Two spellings mean the same: flat keys in snake_case, and keys in camelCase below
// `autoApprove` and `notifications`.

import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import { type PlacedJson, parsePlacedJson } from './placed-json.ts'
import { defaultPolicy, type WorkspacePolicy } from './workspace-policy.ts'

interface Placed {
  /** Both start at 1. */
  line: number
  column: number
  /** The key as it is written: `file_patterns.write[0]`. Empty for the whole file. */
  path: string
}

interface PolicyProblem extends Placed {
  message: string
}

/** A setting as it stands in the file. */
export interface PlacedSetting extends Placed {
  field: PolicyField
  /** The entry of a list; null: the setting itself. */
  entry: string | null
}

export type ReadPolicy =
  | { policy: WorkspacePolicy; problems: readonly []; settings: readonly PlacedSetting[] }
  | { policy: null; problems: readonly PolicyProblem[] }

type PolicyField =
  | 'enabled'
  | 'commands'
  | 'tools'
  | 'file_patterns.write'
  | 'file_patterns.read'
  | 'risk_level_threshold'
  | 'log_auto_approved'
  | 'summary_interval_seconds'

export const MAX_POLICY_BYTES = 64 * 1024
/** Every request is compared with every entry while the event loop waits. */
const MAX_ENTRIES = 100
const MAX_ENTRY_CHARS = 256
const MAX_LIST_CHARS = 8_192
const MAX_WILDCARDS = 10
const MAX_INTERVAL_SECONDS = 86_400
const MAX_PROBLEMS = 20

interface Shape {
  [key: string]: PolicyField | Shape | 'ignored'
}

const flat: Shape = {
  $schema: 'ignored',
  enabled: 'enabled',
  commands: 'commands',
  tools: 'tools',
  file_patterns: { write: 'file_patterns.write', read: 'file_patterns.read' },
  risk_level_threshold: 'risk_level_threshold',
  log_auto_approved: 'log_auto_approved',
  summary_interval_seconds: 'summary_interval_seconds',
}

const nested: Shape = {
  $schema: 'ignored',
  autoApprove: {
    enabled: 'enabled',
    commands: 'commands',
    tools: 'tools',
    filePatterns: { write: 'file_patterns.write', read: 'file_patterns.read' },
    riskLevelThreshold: 'risk_level_threshold',
  },
  notifications: { logAutoApproved: 'log_auto_approved', summaryIntervalSeconds: 'summary_interval_seconds' },
}

/** Never throws. A file with any problem has no policy: half of it could allow more than the whole. */
export function readPolicy(source: string): ReadPolicy {
  // Some editors begin a file with a byte order mark.
  const text = source.startsWith('\ufeff') ? source.slice(1) : source
  const place = placesIn(text)
  const broken = (at: number, message: string): ReadPolicy => ({
    policy: null,
    problems: [{ ...place(at), path: '', message }],
  })
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) return broken(0, tooLarge)
  if (text.trim() === '') return broken(0, 'the file is empty. Write {} for a policy that allows nothing.')
  const parsed = parsePlacedJson(text)
  if (!parsed.ok) return broken(parsed.at, parsed.message)
  const { root } = parsed
  if (root.kind !== 'object') return broken(root.at, 'expected keys with values: { "enabled": true }')

  const problems: PolicyProblem[] = []
  const settings: PlacedSetting[] = []
  const values = new Map<PolicyField, unknown>()
  const isNested = root.members.some(({ name }) => name === 'autoApprove' || name === 'notifications')
  readShape(root, isNested ? nested : flat, '', {
    report: (at, path, message) => {
      if (problems.length < MAX_PROBLEMS) problems.push({ ...place(at), path, message })
    },
    found: (field, at, path, value, entry) => {
      settings.push({ ...place(at), path, field, entry })
      if (entry === null) values.set(field, value)
    },
  })
  return problems.length > 0 ? { policy: null, problems } : { policy: policyOf(values), problems: [], settings }
}

export const tooLarge = `the file has more than ${MAX_POLICY_BYTES / 1024} KiB. Shorten it.`

interface Findings {
  report(at: number, path: string, message: string): void
  found(field: PolicyField, at: number, path: string, value: unknown, entry: string | null): void
}

function readShape(node: PlacedJson & { kind: 'object' }, shape: Shape, path: string, findings: Findings): void {
  for (const { name, at, value } of node.members) {
    const shown = visibleText(name.slice(0, 100))
    const inner = path === '' ? shown : `${path}.${shown}`
    const expected = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (expected === undefined) findings.report(at, inner, unknownKey(name, shape))
    else if (expected === 'ignored') continue
    else if (typeof expected === 'string') readField(expected, value, inner, at, findings)
    else if (value.kind === 'object') readShape(value, expected, inner, findings)
    else findings.report(value.at, inner, `expected keys with values: ${Object.keys(expected).join(', ')}.`)
  }
}

function unknownKey(name: string, shape: Shape): string {
  const keys = Object.keys(shape).filter((key) => shape[key] !== 'ignored')
  const near = didYouMean(name, keys)
  if (near !== null) return `unknown key. Did you mean ${near}?`
  const other = Object.hasOwn(flat, name) && shape === nested
  if (other) return 'unknown key here. A file with autoApprove or notifications has all its keys below these two.'
  return `unknown key. The keys are ${keys.join(', ')}.`
}

function readField(field: PolicyField, node: PlacedJson, path: string, at: number, findings: Findings): void {
  const problem = fieldProblem(field, node)
  if (problem !== null) findings.report(node.at, path, problem)
  else if (node.kind === 'list') readEntries(field, node.items, path, at, findings)
  else if (node.kind === 'plain') findings.found(field, at, path, node.value, null)
}

function fieldProblem(field: PolicyField, node: PlacedJson): string | null {
  const plain = node.kind === 'plain' ? node.value : undefined
  switch (field) {
    case 'enabled':
    case 'log_auto_approved':
      return typeof plain === 'boolean' ? null : 'expected true or false.'
    case 'risk_level_threshold':
      return risks.some((risk) => risk === plain) ? null : `expected one of ${risks.join(', ')}.`
    case 'summary_interval_seconds':
      return isInterval(plain) ? null : `expected a whole number of seconds from 0 to ${MAX_INTERVAL_SECONDS}.`
    default:
      if (node.kind !== 'list') return 'expected a list of texts: ["…"]'
      if (node.items.length > MAX_ENTRIES) return `there are more than ${MAX_ENTRIES} entries. Use wider patterns.`
      return charsOf(node.items) > MAX_LIST_CHARS ? tooLong : null
  }
}

const tooLong = `the entries have more than ${MAX_LIST_CHARS} characters together. Use wider patterns.`

const charsOf = (items: readonly PlacedJson[]): number =>
  items.reduce(
    (sum, item) => sum + (item.kind === 'plain' && typeof item.value === 'string' ? item.value.length : 0),
    0,
  )

const isInterval = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_INTERVAL_SECONDS

function readEntries(
  field: PolicyField,
  items: readonly PlacedJson[],
  path: string,
  at: number,
  findings: Findings,
): void {
  const entries: string[] = []
  findings.found(field, at, path, entries, null)
  for (const [index, item] of items.entries()) {
    const inner = `${path}[${index}]`
    const entry = item.kind === 'plain' && typeof item.value === 'string' ? item.value : null
    const problem = entry === null ? 'expected a text in double quotes.' : entryProblem(field, entry)
    if (problem !== null) findings.report(item.at, inner, problem)
    else if (entry !== null) {
      entries.push(entry)
      findings.found(field, item.at, inner, entry, entry)
    }
  }
}

function entryProblem(field: PolicyField, entry: string): string | null {
  if (entry === '') return 'the text is empty. Remove it.'
  if (entry.length > MAX_ENTRY_CHARS) return `the text is longer than ${MAX_ENTRY_CHARS} characters.`
  if (/\p{Cc}/u.test(entry) || hidesCharacters(entry))
    return 'the text has a character that people do not see. Remove it.'
  if (entry !== entry.trim()) return 'the text begins or ends with a space. Remove it.'
  if ((entry.match(/[*?]+/g) ?? []).length > MAX_WILDCARDS) return `the text has more than ${MAX_WILDCARDS} wildcards.`
  // Silence would be dangerous here: whoever writes it believes that these files are left out.
  if (field.startsWith('file_patterns') && entry.startsWith('!')) {
    return 'a pattern cannot leave files out with "!". List only what may be touched.'
  }
  return null
}

/** The values were checked before they came into the map. */
function policyOf(values: ReadonlyMap<PolicyField, unknown>): WorkspacePolicy {
  const list = (field: PolicyField): string[] => {
    const value = values.get(field)
    return Array.isArray(value) ? value : []
  }
  const flag = (field: PolicyField, otherwise: boolean): boolean => {
    const value = values.get(field)
    return typeof value === 'boolean' ? value : otherwise
  }
  const interval = values.get('summary_interval_seconds')
  const threshold: Risk | undefined = risks.find((risk) => risk === values.get('risk_level_threshold'))
  return {
    enabled: flag('enabled', defaultPolicy.enabled),
    commands: list('commands'),
    tools: list('tools'),
    filePatterns: { write: list('file_patterns.write'), read: list('file_patterns.read') },
    riskLevelThreshold: threshold ?? defaultPolicy.riskLevelThreshold,
    logAutoApproved: flag('log_auto_approved', defaultPolicy.logAutoApproved),
    summaryIntervalSeconds: typeof interval === 'number' ? interval : defaultPolicy.summaryIntervalSeconds,
  }
}

function placesIn(text: string): (offset: number) => { line: number; column: number } {
  let starts: number[] | null = null
  return (offset) => {
    // Only a file that is looked at closely needs its lines.
    starts ??= [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
