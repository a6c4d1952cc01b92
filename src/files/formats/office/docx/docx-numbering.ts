// The lists of a Word document. A paragraph names a list and a level; the number that Word shows beside it is nowhere in the
// file and has to be counted.

import type { OfficePackage } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'
import { formatCount } from './count-format.ts'
import { isOn, levelOf } from './docx-styles.ts'

export interface ListMark {
  /** From 0. */
  level: number
  kind: 'bullet' | 'number'
  count: number
  /** As Word shows it: `2.1`, `(a)`. Empty for bullets. */
  label: string
  /** The label is the count and at most a dot or a bracket: what Markdown's own numbers say. */
  simple: boolean
}

export interface DocxNumbering {
  /**
   * For one paragraph after the other, in the order of the document. Without a level, the one that the list keeps for
   * `style`. Undefined: the paragraph stands in no list, or in one that shows nothing.
   */
  next(list: string, level: number | undefined, style: string | undefined): ListMark | undefined
}

interface Level {
  format: string
  text: string | undefined
  start: number
  /** Starts anew after an item of a level below this one; undefined: after any that is less deep. */
  restart: number | undefined
  style: string | undefined
  legal: boolean
}

interface AbstractList {
  levels: (Level | undefined)[]
  /** A list style that stands for the levels. */
  linkedStyle: string | undefined
  counts: (number | undefined)[]
}

interface List {
  abstract: string
  overrides: ({ start: number | undefined; level: Level | undefined; started: boolean } | undefined)[]
}

/** Beyond it lists are shown with plain bullets. Word itself keeps some thousands. */
const maxLists = 50_000

/** The text around a number is repeated with every item, so a long one would be a way to make a small file large. */
const maxLabel = 60

const levels = 9
const decimal: Level = {
  format: 'decimal',
  text: undefined,
  start: 1,
  restart: undefined,
  style: undefined,
  legal: false,
}

/** `listOfStyle`: the list that a list style names. */
export async function readDocxNumbering(
  pack: OfficePackage,
  part: string | undefined,
  listOfStyle: (style: string) => string | undefined,
): Promise<DocxNumbering> {
  const abstracts = new Map<string, AbstractList>()
  const lists = new Map<string, List>()
  let abstract: AbstractList | undefined
  let list: List | undefined
  let override: { start: number | undefined; level: Level | undefined; started: boolean } | undefined
  let level: Level | undefined

  const opened = new Map<string, (attributes: string) => void>(
    Object.entries({
      abstractNum: (attributes: string) => {
        abstract = { levels: [], linkedStyle: undefined, counts: [] }
        if (abstracts.size < maxLists) abstracts.set(attribute(attributes, 'w:abstractNumId') ?? '', abstract)
      },
      numStyleLink: (attributes: string) => {
        if (abstract !== undefined) abstract.linkedStyle = attribute(attributes, 'w:val')
      },
      num: (attributes: string) => {
        list = { abstract: '', overrides: [] }
        if (lists.size < maxLists) lists.set(attribute(attributes, 'w:numId') ?? '', list)
      },
      abstractNumId: (attributes: string) => {
        if (list !== undefined) list.abstract = attribute(attributes, 'w:val') ?? ''
      },
      lvlOverride: (attributes: string) => {
        override = { start: undefined, level: undefined, started: false }
        if (list !== undefined) list.overrides[levelOf(attribute(attributes, 'w:ilvl'))] = override
      },
      startOverride: (attributes: string) => {
        if (override !== undefined) override.start = countOf(attribute(attributes, 'w:val'))
      },
      lvl: (attributes: string) => {
        level = { ...decimal }
        if (override !== undefined) override.level = level
        else if (abstract !== undefined) abstract.levels[levelOf(attribute(attributes, 'w:ilvl'))] = level
      },
      start: (attributes: string) => {
        if (level !== undefined) level.start = countOf(attribute(attributes, 'w:val'))
      },
      numFmt: (attributes: string) => {
        if (level !== undefined) level.format = attribute(attributes, 'w:val') ?? 'decimal'
      },
      lvlText: (attributes: string) => {
        if (level !== undefined) level.text = (attribute(attributes, 'w:val') ?? '').slice(0, maxLabel)
      },
      lvlRestart: (attributes: string) => {
        if (level !== undefined) level.restart = countOf(attribute(attributes, 'w:val'))
      },
      pStyle: (attributes: string) => {
        if (level !== undefined) level.style = attribute(attributes, 'w:val')
      },
      isLgl: (attributes: string) => {
        if (level !== undefined) level.legal = isOn(attribute(attributes, 'w:val'))
      },
    }),
  )

  if (part !== undefined) {
    await pack.scan(part, {
      open: (name, attributes) => opened.get(name)?.(attributes),
      close(name) {
        if (name === 'abstractNum') abstract = undefined
        else if (name === 'num') list = undefined
        else if (name === 'lvlOverride') override = undefined
        else if (name === 'lvl') level = undefined
      },
    })
  }

  /** A list style's own list may name a style again; one step is all that Word writes. */
  function abstractOf({ abstract: id }: List): AbstractList | undefined {
    const named = abstracts.get(id)
    const linked = named?.linkedStyle === undefined ? undefined : lists.get(listOfStyle(named.linkedStyle) ?? '')
    return (linked === undefined ? undefined : abstracts.get(linked.abstract)) ?? named
  }

  return {
    next(id, given, style) {
      if (id === '0') return undefined
      const used = lists.get(id)
      const base = used === undefined ? undefined : abstractOf(used)
      if (used === undefined || base === undefined) {
        return { level: given ?? 0, kind: 'bullet', count: 1, label: '', simple: true }
      }
      const levelAt = (at: number): Level => used.overrides[at]?.level ?? base.levels[at] ?? decimal
      const kept = style === undefined ? -1 : base.levels.findIndex((one) => one?.style === style)
      const at = given ?? Math.max(0, kept)
      const current = levelAt(at)
      const own = used.overrides[at]
      const before = own?.start !== undefined && !own.started ? undefined : base.counts[at]
      if (own !== undefined) own.started = true
      const count = before === undefined ? (own?.start ?? current.start) : before + 1
      base.counts[at] = count
      for (let deeper = at + 1; deeper < levels; deeper += 1) {
        if (at < (levelAt(deeper).restart ?? deeper)) base.counts[deeper] = undefined
      }
      if (current.format === 'bullet') return { level: at, kind: 'bullet', count, label: '', simple: true }
      const label = labelOf(current, (of) => ({ count: base.counts[of] ?? levelAt(of).start, level: levelAt(of) }))
      if (label === '' && current.text !== undefined) return undefined
      const simple =
        current.text === undefined || (label === current.text.replace(`%${at + 1}`, String(count)) && isPlain(label))
      return { level: at, kind: 'number', count, label: label === '' ? `${count}.` : label, simple }
    },
  }
}

const isPlain = (label: string): boolean => /^\d+[.)]?$/.test(label)

function labelOf(current: Level, at: (level: number) => { count: number; level: Level }): string {
  const text = (current.text ?? '').replace(/%([1-9])/g, (_, digit: string) => {
    const { count, level } = at(Number(digit) - 1)
    return formatCount(count, current.legal ? 'decimal' : level.format)
  })
  return text.trim()
}

/** Word's own limit is 32,767. */
const countOf = (value: string | undefined): number =>
  Math.min(1_000_000, Math.max(0, Math.trunc(Number(value ?? 1)) || 0))
