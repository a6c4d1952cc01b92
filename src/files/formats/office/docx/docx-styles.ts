// The styles of a Word document, as far as Markdown can show them. Word shows style names in the user's language, but the names
// inside the file (`heading 1`) are the same in all languages.

import type { OfficePackage } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'

/** A style with all that it inherits. Undefined: neither the style nor its ancestors set the property. */
interface DocxStyle {
  /** 1 to 9; 0 is body text. */
  heading: number | undefined
  list: string | undefined
  listLevel: number | undefined
  bold: boolean | undefined
  italic: boolean | undefined
  hidden: boolean | undefined
}

interface WrittenStyle extends DocxStyle {
  basedOn: string | undefined
}

/** Word itself stops at eleven. A damaged style may be based on itself. */
const maxAncestors = 20

/** Further styles count as plain ones. Documents that people pasted together for years have about 10,000. */
const maxStyles = 50_000

const plain: DocxStyle = {
  heading: undefined,
  list: undefined,
  listLevel: undefined,
  bold: undefined,
  italic: undefined,
  hidden: undefined,
}

export async function readDocxStyles(pack: OfficePackage, part: string | undefined) {
  const written = new Map<string, WrittenStyle>()
  const resolved = new Map<string, DocxStyle>()
  let standard: string | undefined
  let style: WrittenStyle | undefined
  let name: string | undefined
  let id = ''
  let outline: number | undefined
  let skipDepth = 0

  if (part !== undefined) {
    await pack.scan(part, {
      open(element, attributes) {
        // These hold the properties before a tracked change.
        if (skipDepth > 0 || element === 'pPrChange' || element === 'rPrChange') skipDepth += 1
        else if (element === 'style') {
          id = attribute(attributes, 'w:styleId') ?? ''
          style = { ...plain, basedOn: undefined }
          name = undefined
          outline = undefined
          const isStandard = attribute(attributes, 'w:default')
          if (isStandard !== undefined && isOn(isStandard) && attribute(attributes, 'w:type') === 'paragraph')
            standard = id
        } else if (style !== undefined) property(style, element, attribute(attributes, 'w:val'))
      },
      close(element) {
        if (skipDepth > 0) skipDepth -= 1
        else if (element === 'style' && style !== undefined) {
          style.heading = headingOf(name ?? id) ?? (outline === undefined ? undefined : headingAt(outline))
          if (written.size < maxStyles) written.set(id, style)
          style = undefined
        }
      },
    })
  }

  function property(of: WrittenStyle, element: string, value: string | undefined): void {
    if (element === 'name') name = value
    else if (element === 'basedOn') of.basedOn = value
    else if (element === 'outlineLvl') outline = Number(value)
    else if (element === 'numId') of.list = value
    else if (element === 'ilvl') of.listLevel = levelOf(value)
    else if (element === 'b') of.bold = isOn(value)
    else if (element === 'i') of.italic = isOn(value)
    else if (element === 'vanish') of.hidden = isOn(value)
  }

  function resolve(wanted: string): DocxStyle {
    const known = resolved.get(wanted)
    if (known !== undefined) return known
    // Some programs use styles that they leave out of the file, because Word has them built in.
    const found: DocxStyle = { ...plain, ...(written.has(wanted) ? {} : { heading: headingOf(wanted) }) }
    let ancestor = written.get(wanted)
    for (let steps = 0; ancestor !== undefined && steps < maxAncestors; steps += 1) {
      found.heading ??= ancestor.heading
      found.list ??= ancestor.list
      found.listLevel ??= ancestor.listLevel
      found.bold ??= ancestor.bold
      found.italic ??= ancestor.italic
      found.hidden ??= ancestor.hidden
      ancestor = ancestor.basedOn === undefined ? undefined : written.get(ancestor.basedOn)
    }
    if (resolved.size < maxStyles) resolved.set(wanted, found)
    return found
  }

  return {
    /** Without an id: the style of paragraphs that do not name one. */
    ofParagraph: (wanted: string | undefined): DocxStyle => {
      const named = wanted ?? standard
      return named === undefined ? plain : resolve(named)
    },
    ofRun: resolve,
  }
}

export type DocxStyles = Awaited<ReturnType<typeof readDocxStyles>>

/** A property without a value is on. */
export const isOn = (value: string | undefined): boolean => value === undefined || /^(1|true|on)$/.test(value)

/** Always 0 to 8, whatever the file says. */
export const levelOf = (value: string | undefined): number => Math.min(8, Math.max(0, Math.trunc(Number(value)) || 0))

/** Word counts outline levels from 0. The tenth one is body text. */
export const headingAt = (outline: number): number => (outline >= 0 && outline < 9 ? Math.trunc(outline) + 1 : 0)

function headingOf(name: string): number | undefined {
  if (/^title$/i.test(name)) return 1
  const level = /^heading ?([1-9])$/i.exec(name)?.[1]
  return level === undefined ? undefined : Number(level)
}
