import type { Extract, ExtractSection } from '../../../../domain/session/file.ts'
import { extractCharacters, limitExtract } from '../../extract-limit.ts'
import { joinBlocks, type TextBlock } from '../../markdown.ts'
import { unreadable } from '../../unreadable.ts'
import { type OfficePackage, openOfficePackage } from '../office-package.ts'
import { pictureNotes, readChart, readDiagram } from '../read-chart.ts'
import { attribute } from '../xml-scanner.ts'
import { type Shape, scanSlide } from './scan-slide.ts'

/** A talk that lasts a day has about 300. */
const maxSlides = 2_000

/**
 * Gives one section for each slide, also for hidden ones, in the order of the presentation: the title as a heading, then text,
 * lists, tables, the numbers behind charts, descriptions of pictures, and the speaker's notes. Slide numbers, dates and footers
 * are left out.
 */
export async function readPptx(path: string): Promise<Extract> {
  const pack = await openOfficePackage(path, 'pptx')
  try {
    const slides = await slidesOf(pack)
    if (slides.length > maxSlides) {
      const limit = maxSlides.toLocaleString('en')
      throw unreadable(
        `The presentation has ${slides.length.toLocaleString('en')} slides, but at most ${limit} can be read.`,
      )
    }
    const sections: ExtractSection[] = []
    const hidden: number[] = []
    let pictures = 0
    let characters = 0
    for (const [index, part] of slides.entries()) {
      // A presentation can show one slide many times, so a small file can give a long text.
      if (characters > extractCharacters) break
      const slide = await scanSlide(pack, part)
      if (slide.hidden) hidden.push(index + 1)
      pictures += slide.pictures
      const blocks = [...(await blocksOf(pack, slide.shapes)), ...(await notesOf(pack, part))]
      const text = joinBlocks(blocks)
      characters += text.length
      sections.push({ label: `slide ${index + 1}`, text })
    }
    const notes = notesOn(hidden, pictures)
    if (sections.length < slides.length) {
      notes.push(
        `The presentation has ${slides.length.toLocaleString('en')} slides; only the first ${sections.length} were read.`,
      )
    }
    return limitExtract({ sections, notes })
  } finally {
    pack.close()
  }
}

async function slidesOf(pack: OfficePackage): Promise<string[]> {
  const relationships = await pack.relationshipsOf(pack.main)
  const slides: string[] = []
  await pack.scan(pack.main, {
    open(name, attributes) {
      if (name !== 'sldId') return
      const target = relationships.get(attribute(attributes, 'r:id') ?? '')
      if (target?.type === 'slide') slides.push(target.target)
    },
  })
  return slides
}

async function blocksOf(pack: OfficePackage, shapes: readonly Shape[]): Promise<TextBlock[]> {
  const isTitle = (shape: Shape) =>
    shape.kind === 'text' && (shape.placeholder === 'title' || shape.placeholder === 'ctrTitle')
  const blocks: TextBlock[] = []
  for (const shape of shapes.filter(isTitle)) {
    if (shape.kind !== 'text') continue
    const title = shape.blocks.map(({ text }) => text.replace(/\s*\n\s*/g, ' ')).join(' ')
    blocks.push({ text: `# ${title}`, item: false })
  }
  for (const shape of shapes) {
    if (isTitle(shape)) continue
    blocks.push(...(await blocksOfShape(pack, shape)))
  }
  return blocks
}

async function blocksOfShape(pack: OfficePackage, shape: Shape): Promise<TextBlock[]> {
  switch (shape.kind) {
    case 'text':
      return isHeaderOrFooter(shape.placeholder) ? [] : shape.blocks
    case 'table':
      return [{ text: shape.text, item: false }]
    case 'picture':
      return [{ text: `Picture: ${shape.description.trim()}`, item: false }]
    case 'chart':
      return [{ text: await readChart(pack, shape.part), item: false }]
    case 'diagram':
      return [{ text: await readDiagram(pack, shape.part), item: false }]
  }
}

const isHeaderOrFooter = (placeholder: string | undefined): boolean =>
  placeholder === 'sldNum' || placeholder === 'dt' || placeholder === 'ftr' || placeholder === 'hdr'

/** The notes page also holds a picture of the slide, a page number and a header; these are left out. */
async function notesOf(pack: OfficePackage, slide: string): Promise<TextBlock[]> {
  const page = [...(await pack.relationshipsOf(slide)).values()].find((one) => one.type === 'notesSlide')?.target
  if (page === undefined || !pack.has(page)) return []
  const { shapes } = await scanSlide(pack, page)
  const lines = shapes.flatMap((shape) =>
    shape.kind === 'text' && shape.placeholder === 'body'
      ? shape.blocks.map(({ text }) => text.replace(/^- /, ''))
      : [],
  )
  return lines.length === 0 ? [] : [{ text: `Notes: ${lines.join('\n')}`, item: false }]
}

function notesOn(hidden: readonly number[], pictures: number): string[] {
  const notes: string[] = []
  if (hidden.length > 0) {
    notes.push(`Hidden in the presentation: ${hidden.length === 1 ? 'slide' : 'slides'} ${hidden.join(', ')}.`)
  }
  return [...notes, ...pictureNotes(pictures)]
}
