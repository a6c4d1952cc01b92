import { joinBlocks, listItem, markdownTable } from '../markdown.ts'
import { unreadable } from '../unreadable.ts'
import type { OfficePackage } from './office-package.ts'
import { attribute } from './xml-scanner.ts'

interface Series {
  name: string
  categories: string[]
  values: string[]
}

/** The numbers behind a chart as a table. Every chart carries a copy of them. Empty if it does not. */
export async function readChart(pack: OfficePackage, part: string): Promise<string> {
  const series: Series[] = []
  let title = ''
  let list: 'name' | 'categories' | 'values' | undefined
  let inTitle = 0
  let inText = false
  let point = 0
  function startSeries(): void {
    if (series.length === maxSeries) throw unreadable('The file has a chart with too many series to be read.')
    series.push({ name: '', categories: [], values: [] })
  }

  await pack.scan(part, {
    open(name, attributes) {
      if (name === 'ser') startSeries()
      else if (name === 'tx' && series.length > 0) list = 'name'
      else if (name === 'cat' || name === 'xVal') list = 'categories'
      else if (name === 'val' || name === 'yVal') list = 'values'
      else if (name === 'title') inTitle += 1
      else if (name === 'pt') point = Math.min(maxPoints, Number(attribute(attributes, 'idx') ?? 0) || 0)
      else if (name === 'v' || name === 't') inText = true
    },
    text(text) {
      const current = series.at(-1)
      if (!inText) return
      if (inTitle > 0) title += text
      else if (current === undefined || list === undefined) return
      else if (list === 'name') current.name += text
      else if (point < maxPoints) current[list][point] = (current[list][point] ?? '') + text
    },
    close(name) {
      if (name === 'ser' || name === 'tx' || name === 'cat' || name === 'val' || name === 'xVal' || name === 'yVal') {
        list = undefined
      } else if (name === 'title') inTitle -= 1
      else if (name === 'v' || name === 't') inText = false
    },
  })
  const [first] = series
  if (first === undefined) return ''
  const length = Math.max(...series.map(({ values }) => values.length))
  const rows = Array.from({ length }, (_, row) => [
    first.categories[row] ?? '',
    ...series.map(({ values }) => values[row] ?? ''),
  ])
  return `Chart${title === '' ? '' : `: ${title}`}\n\n${markdownTable([['', ...series.map(({ name }) => name)], ...rows])}`
}

/** Excel's own limit. */
const maxSeries = 255

/** The index of a point comes from the file, so it can be any number. */
const maxPoints = 1_000

/** The texts of a SmartArt diagram as a list. */
export async function readDiagram(pack: OfficePackage, part: string): Promise<string> {
  const items: string[] = []
  let paragraph = ''
  let inText = false
  await pack.scan(part, {
    open(name) {
      if (name === 'p') paragraph = ''
      else if (name === 't') inText = true
    },
    text(text) {
      // Another element with the name `t` surrounds each body of text; it adds only white space.
      if (inText) paragraph += text
    },
    close(name) {
      if (name === 'p' && paragraph.trim() !== '') items.push(paragraph)
      if (name === 'p') paragraph = ''
      else if (name === 't') inText = false
    },
  })
  return joinBlocks(items.map((text) => ({ text: listItem(text, 0), item: true })))
}

export const pictureNotes = (count: number): string[] =>
  count === 0 ? [] : [`${count === 1 ? 'One picture' : `${count} pictures`} without a description could not be read.`]
