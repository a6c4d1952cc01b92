// The form fields, comments and links of a page of a PDF. None of these are in the page's own text.

import type { PDFPageProxy } from 'unpdf/pdfjs'

const MAX_LINES = 300
const MAX_CHARACTERS = 4_000

/** Gives Markdown with a title for each kind; empty when there is nothing. Links that `text`, the text of the page, spells out are left out. */
export async function pageAnnotations(page: PDFPageProxy, text: string): Promise<string> {
  const all: Annotation[] = await page.getAnnotations().catch(() => [])
  const inOrder = all.filter(isShown).toSorted(byPlace)
  return [
    block('Form fields:', inOrder.map(fieldLine)),
    block('Comments:', inOrder.map(commentLine)),
    block(
      'Links:',
      inOrder.map((annotation) => linkLine(annotation, text)),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** As pdf.js gives them. The values come from the file, so each may be missing or of any type. */
type Annotation = Readonly<Record<string, unknown>>

function block(title: string, lines: readonly (string | null)[]): string {
  const known = [...new Set(lines.flatMap((line) => line ?? []))]
  if (known.length === 0) return ''
  const left = known.length - MAX_LINES
  const more = left > 0 ? [`- (${left} more)`] : []
  return [title, ...known.slice(0, MAX_LINES).map((line) => `- ${line}`), ...more].join('\n')
}

const isShown = ({ annotationFlags }: Annotation): boolean =>
  typeof annotationFlags !== 'number' || (annotationFlags & HIDDEN) === 0

/** The PDF flags Hidden and NoView. */
const HIDDEN = 2 | 32

/** From top to bottom, and from left to right within a line. */
function byPlace(one: Annotation, other: Annotation): number {
  const [left = 0, , , top = 0] = numbersOf(one.rect)
  const [otherLeft = 0, , , otherTop = 0] = numbersOf(other.rect)
  return Math.abs(top - otherTop) > SAME_LINE ? otherTop - top : left - otherLeft
}

/** In points. */
const SAME_LINE = 6

/** Null: it is not a field, or it is empty. */
function fieldLine(annotation: Annotation): string | null {
  const { subtype, fieldType, fieldValue, checkBox, radioButton, exportValue, buttonValue } = annotation
  if (subtype !== 'Widget') return null
  const name = nameOf(annotation)
  if (checkBox === true) return `[${fieldValue === exportValue && fieldValue !== 'Off' ? 'x' : ' '}] ${name}`
  if (radioButton === true) return fieldValue === buttonValue && fieldValue ? `${name}: ${oneLine(buttonValue)}` : null
  if (fieldType !== 'Tx' && fieldType !== 'Ch') return null
  const values = (Array.isArray(fieldValue) ? fieldValue : [fieldValue]).map((value) => shownValue(annotation, value))
  const shown = values.filter((value) => value !== '').join(', ')
  if (shown === '') return null
  return `${name}: ${annotation.password === true ? '(hidden)' : shown}`
}

/** A list may show other words than the value it stores. */
function shownValue({ options }: Annotation, value: unknown): string {
  const option: unknown = Array.isArray(options) ? options.find((one) => one?.exportValue === value) : undefined
  const hasWords = typeof option === 'object' && option !== null && 'displayValue' in option
  return oneLine(hasWords ? option.displayValue : value)
}

/** The label for people, or else the last part of the name for programs. */
function nameOf({ alternativeText, fieldName }: Annotation): string {
  const [last = ''] = oneLine(fieldName).split('.').slice(-1)
  return oneLine(alternativeText) || last.replace(/\[\d+\]$/, '') || 'field'
}

const MARKS = new Map([
  ['Highlight', 'Highlighted'],
  ['Underline', 'Underlined'],
  ['Squiggly', 'Underlined'],
  ['StrikeOut', 'Struck out'],
])
const REMARKS = new Set([
  'Text',
  'FreeText',
  'Caret',
  'Stamp',
  'Ink',
  'Square',
  'Circle',
  'Line',
  'Polygon',
  'PolyLine',
])

function commentLine(annotation: Annotation): string | null {
  const { subtype, contentsObj, titleObj, textContent, overlaidText } = annotation
  if (typeof subtype !== 'string' || !(MARKS.has(subtype) || REMARKS.has(subtype))) return null
  const written = Array.isArray(textContent) && subtype === 'FreeText' ? textContent.join(' ') : ''
  const remark = oneLine(strOf(contentsObj)) || oneLine(written)
  const mark = MARKS.get(subtype)
  const marked = mark === undefined ? '' : oneLine(overlaidText)
  if (remark === '' && marked === '') return null
  const author = oneLine(strOf(titleObj))
  const what = marked === '' ? [] : [`${mark} "${marked}"`]
  const said = remark === '' ? [] : [remark]
  return `${[...what, ...said].join(': ')}${author === '' ? '' : ` (${author})`}`
}

function linkLine({ subtype, url, overlaidText }: Annotation, text: string): string | null {
  if (subtype !== 'Link' || typeof url !== 'string') return null
  const spelt = url.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '').replace(/\/$/, '')
  // A long address may be spread over several lines of the page.
  if (text.replace(/\s+/g, '').includes(spelt.replace(/\s+/g, ''))) return null
  const words = oneLine(overlaidText)
  return words === '' ? oneLine(url) : `${words}: ${oneLine(url)}`
}

const numbersOf = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'number') : []

const strOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'str' in value ? value.str : undefined

const oneLine = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/\s+/g, ' ').trim().slice(0, MAX_CHARACTERS) : ''
