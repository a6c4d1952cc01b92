// The lists of a Word document. A paragraph names a list and a level. The number that Word shows beside it is not in the file, so
// it is counted here.

import type { OfficePackage } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'
import { isOn, levelOf } from './docx-styles.ts'

interface ListMark {
  /** The outermost level is 0. */
  level: number
  kind: 'bullet' | 'number'
  count: number
  /** As Word shows it: `2.1`, `(a)`. Empty for bullets. */
  label: string
  /** The label is the count with at most a dot or a bracket, as Markdown writes numbers. */
  simple: boolean
}

interface Level {
  format: string
  text: string | undefined
  start: number
  /** The count restarts after an item of a level below this one. Undefined: after an item of any higher level. */
  restart: number | undefined
  style: string | undefined
  /** Shows the numbers of all levels as digits. */
  legal: boolean
}

/** What several lists share: their levels and their counts. */
interface AbstractList {
  levels: (Level | undefined)[]
  /** The list style that defines the levels instead. */
  linkedStyle: string | undefined
  counts: (number | undefined)[]
}

interface LevelOverride {
  start: number | undefined
  level: Level | undefined
  started: boolean
}

interface List {
  abstract: string
  overrides: (LevelOverride | undefined)[]
}

/** Further lists are shown with plain bullets. Word itself keeps a few thousand. */
const maxLists = 50_000

/** The text around a number is repeated with every item, so a long text would make a small file large. */
const maxLabel = 60

const levelCount = 9
const decimal: Level = {
  format: 'decimal',
  text: undefined,
  start: 1,
  restart: undefined,
  style: undefined,
  legal: false,
}

/** `listOfStyle` gives the list that a list style names. */
export async function readDocxNumbering(
  pack: OfficePackage,
  part: string | undefined,
  listOfStyle: (style: string) => string | undefined,
) {
  const { abstracts, lists } = await scanLists(pack, part)

  function abstractOf(list: List): AbstractList | undefined {
    const named = abstracts.get(list.abstract)
    // The list of a list style could name a style again. Word never writes that, so only one step is followed.
    const linked = named?.linkedStyle === undefined ? undefined : lists.get(listOfStyle(named.linkedStyle) ?? '')
    return (linked === undefined ? undefined : abstracts.get(linked.abstract)) ?? named
  }

  return {
    /**
     * The mark of the next paragraph. Call it for the paragraphs in the order of the document. Without a level, it takes the level
     * that the list keeps for `style`. Undefined: the paragraph is in no list, or in one that shows nothing.
     */
    next(id: string, level: number | undefined, style: string | undefined): ListMark | undefined {
      if (id === '0') return undefined
      const list = lists.get(id)
      const abstract = list === undefined ? undefined : abstractOf(list)
      if (list === undefined || abstract === undefined) {
        return { level: level ?? 0, kind: 'bullet', count: 1, label: '', simple: true }
      }
      const ofStyle = style === undefined ? -1 : abstract.levels.findIndex((one) => one?.style === style)
      return markOf(list, abstract, level ?? Math.max(0, ofStyle))
    },
  }
}

export type DocxNumbering = Awaited<ReturnType<typeof readDocxNumbering>>

interface FoundLists {
  abstracts: Map<string, AbstractList>
  lists: Map<string, List>
}

/** What is open while the lists are read. */
interface NumberingScan extends FoundLists {
  abstract: AbstractList | undefined
  list: List | undefined
  override: LevelOverride | undefined
  level: Level | undefined
}

async function scanLists(pack: OfficePackage, part: string | undefined): Promise<FoundLists> {
  const scan: NumberingScan = {
    abstracts: new Map(),
    lists: new Map(),
    abstract: undefined,
    list: undefined,
    override: undefined,
    level: undefined,
  }
  if (part === undefined) return scan
  await pack.scan(part, {
    open(name, attributes) {
      if (scan.level === undefined || !setProperty(scan.level, name, attributes)) openElement(scan, name, attributes)
    },
    close(name) {
      if (name === 'abstractNum') scan.abstract = undefined
      else if (name === 'num') scan.list = undefined
      else if (name === 'lvlOverride') scan.override = undefined
      else if (name === 'lvl') scan.level = undefined
    },
  })
  return scan
}

function openElement(scan: NumberingScan, name: string, attributes: string): void {
  const { abstracts, lists, abstract, list, override } = scan
  switch (name) {
    case 'abstractNum':
      scan.abstract = { levels: [], linkedStyle: undefined, counts: [] }
      if (abstracts.size < maxLists) abstracts.set(attribute(attributes, 'w:abstractNumId') ?? '', scan.abstract)
      break
    case 'numStyleLink':
      if (abstract !== undefined) abstract.linkedStyle = attribute(attributes, 'w:val')
      break
    case 'num':
      scan.list = { abstract: '', overrides: [] }
      if (lists.size < maxLists) lists.set(attribute(attributes, 'w:numId') ?? '', scan.list)
      break
    case 'abstractNumId':
      if (list !== undefined) list.abstract = attribute(attributes, 'w:val') ?? ''
      break
    case 'lvlOverride':
      scan.override = { start: undefined, level: undefined, started: false }
      if (list !== undefined) list.overrides[levelOf(attribute(attributes, 'w:ilvl'))] = scan.override
      break
    case 'startOverride':
      if (override !== undefined) override.start = countOf(attribute(attributes, 'w:val'))
      break
    case 'lvl':
      scan.level = { ...decimal }
      if (override !== undefined) override.level = scan.level
      else if (abstract !== undefined) abstract.levels[levelOf(attribute(attributes, 'w:ilvl'))] = scan.level
      break
  }
}

/** False when the element is not a property of a level. */
function setProperty(level: Level, name: string, attributes: string): boolean {
  const value = attribute(attributes, 'w:val')
  if (name === 'start') level.start = countOf(value)
  else if (name === 'numFmt') level.format = value ?? 'decimal'
  else if (name === 'lvlText') level.text = (value ?? '').slice(0, maxLabel)
  else if (name === 'lvlRestart') level.restart = countOf(value)
  else if (name === 'pStyle') level.style = value
  else if (name === 'isLgl') level.legal = isOn(value)
  else return false
  return true
}

/** Counts the next item at this level of the list. */
function markOf(list: List, abstract: AbstractList, at: number): ListMark | undefined {
  const { counts } = abstract
  const levelAt = (level: number): Level => list.overrides[level]?.level ?? abstract.levels[level] ?? decimal
  const level = levelAt(at)
  const override = list.overrides[at]
  const before = override?.start !== undefined && !override.started ? undefined : counts[at]
  if (override !== undefined) override.started = true
  const count = before === undefined ? (override?.start ?? level.start) : before + 1
  counts[at] = count
  for (let deeper = at + 1; deeper < levelCount; deeper += 1) {
    if (at < (levelAt(deeper).restart ?? deeper)) counts[deeper] = undefined
  }
  if (level.format === 'bullet') return { level: at, kind: 'bullet', count, label: '', simple: true }
  const label = labelOf(level, (other) => ({ count: counts[other] ?? levelAt(other).start, level: levelAt(other) }))
  if (label === '' && level.text !== undefined) return undefined
  const simple =
    level.text === undefined || (label === level.text.replace(`%${at + 1}`, String(count)) && isPlain(label))
  return { level: at, kind: 'number', count, label: label === '' ? `${count}.` : label, simple }
}

const isPlain = (label: string): boolean => /^\d+[.)]?$/.test(label)

/** Fills the placeholders `%1` to `%9` of a label with the counts of the levels. */
function labelOf(level: Level, at: (level: number) => { count: number; level: Level }): string {
  const text = (level.text ?? '').replace(/%([1-9])/g, (_, digit: string) => {
    const { count, level: other } = at(Number(digit) - 1)
    return formatCount(count, level.legal ? 'decimal' : other.format)
  })
  return text.trim()
}

/** Word's own limit is 32,767. */
const countOf = (value: string | undefined): number =>
  Math.min(1_000_000, Math.max(0, Math.trunc(Number(value ?? 1)) || 0))

// Numbers in the formats of Word's lists: 3 may be written as c, III or 03.

/** `format` is Word's name of the format. Unknown formats give digits. */
export function formatCount(count: number, format: string): string {
  switch (format) {
    case 'decimalZero':
      return String(count).padStart(2, '0')
    case 'lowerLetter':
      return letters(count)
    case 'upperLetter':
      return letters(count).toUpperCase()
    case 'lowerRoman':
      return roman(count)
    case 'upperRoman':
      return roman(count).toUpperCase()
    case 'none':
    case 'bullet':
      return ''
    default:
      return String(count)
  }
}

/** After z comes aa, then bb. A hostile file can start a list at any number, so a label of more than 30 letters is written in digits. */
function letters(count: number): string {
  if (count < 1 || count > 780) return String(count)
  return String.fromCharCode(97 + ((count - 1) % 26)).repeat(Math.ceil(count / 26))
}

const romans: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

function roman(count: number): string {
  if (count < 1 || count > 3999) return String(count)
  let left = count
  let text = ''
  for (const [value, digits] of romans) {
    text += digits.repeat(Math.floor(left / value))
    left %= value
  }
  return text
}
