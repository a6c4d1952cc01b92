// officeparser's tree of a Word document as Markdown. Not its own Markdown: that puts tables inside tables at the end of the
// document, a list of properties at its head and an anchor behind every heading.

import type { OfficeContentNode } from 'officeparser'
import { joinBlocks, listItem, markdownLink, markdownTable } from './markdown.ts'

export interface RenderedDocx {
  text: string
  /** Without a description. */
  pictures: number
}

/** `charts`: the text of each by its name in the tree. */
export function renderDocx(content: readonly OfficeContentNode[], charts: ReadonlyMap<string, string>): RenderedDocx {
  const footnotes: string[] = []
  let pictures = 0

  function blocksOf(nodes: readonly OfficeContentNode[]): { text: string; item: boolean }[] {
    return nodes.flatMap((node) => {
      switch (node.type) {
        case 'heading': {
          const text = inline(node.children ?? [], false).replace(/\s*\n\s*/g, ' ')
          const level = Math.min(6, Math.max(1, node.metadata?.level ?? 1))
          return { text: text.trim() === '' ? '' : `${'#'.repeat(level)} ${text.trim()}`, item: false }
        }
        case 'list': {
          const text = inline(node.children ?? [])
          if (text.trim() === '') return []
          const number = node.metadata?.listType === 'ordered' ? node.metadata.itemIndex + 1 : undefined
          return { text: listItem(text, Math.min(8, node.metadata?.indentation ?? 0), number), item: true }
        }
        case 'table':
          return { text: markdownTable(rowsOf(node)), item: false }
        case 'text':
        case 'break':
        case 'image':
        case 'chart':
        case 'code':
          return { text: inline([node]).trim(), item: false }
        case 'paragraph':
          return { text: inline(node.children ?? []).trim(), item: false }
        default:
          return blocksOf(node.children ?? [])
      }
    })
  }

  function rowsOf(table: OfficeContentNode): string[][] {
    return (table.children ?? []).map((row) => {
      const cells: string[] = []
      for (const cell of row.children ?? []) {
        const column = cell.type === 'cell' ? (cell.metadata?.col ?? 0) : 0
        // Where a cell stands is a claim of the file; Word itself has no more than 63 columns.
        const at = column > cells.length && column < 63 ? column : cells.length
        cells[at] = cellText(cell.children ?? [])
      }
      return Array.from(cells, (cell) => cell ?? '')
    })
  }

  /** A table inside a cell becomes lines: Markdown has no place for one, and at the end of the document nobody would find it. */
  function cellText(nodes: readonly OfficeContentNode[]): string {
    return nodes
      .flatMap((node) =>
        node.type === 'table'
          ? rowsOf(node).map((row) => row.join(' / '))
          : blocksOf([node]).map(({ text }) => text.replace(/\n\s*/g, '\n')),
      )
      .filter((text) => text !== '')
      .join('\n')
  }

  function inline(nodes: readonly OfficeContentNode[], withEmphasis = true): string {
    let text = ''
    for (const run of runsOf(nodes)) {
      text += run.link === undefined ? (withEmphasis ? emphasised(run) : run.text) : markdownLink(run.text, run.link)
      for (const note of run.notes) text += footnote(note)
    }
    return text
  }

  /** Neighbours that look the same are one run: Word splits words wherever somebody once typed. */
  function runsOf(nodes: readonly OfficeContentNode[]): Run[] {
    const runs: Run[] = []
    for (const node of nodes) {
      const run = runOf(node)
      const before = runs.at(-1)
      const same =
        before !== undefined &&
        before.notes.length === 0 &&
        before.bold === run.bold &&
        before.italic === run.italic &&
        before.link === run.link
      if (same) {
        before.text += run.text
        before.notes.push(...run.notes)
      } else runs.push(run)
    }
    return runs
  }

  function runOf(node: OfficeContentNode): Run {
    const plain = (text: string): Run => ({
      text,
      bold: false,
      italic: false,
      link: undefined,
      notes: node.notes ?? [],
    })
    switch (node.type) {
      case 'text': {
        const link = node.metadata?.linkType === 'external' ? node.metadata.link : undefined
        const { bold = false, italic = false } = node.formatting ?? {}
        return { text: node.text ?? '', bold, italic, link, notes: node.notes ?? [] }
      }
      case 'break':
        return plain('\n')
      case 'image': {
        const description = node.metadata?.altText?.trim() ?? ''
        if (description === '') pictures += 1
        return plain(description === '' ? '' : `[Picture: ${description}]`)
      }
      case 'chart':
        return plain(`\n\n${charts.get(node.metadata?.attachmentName ?? '') ?? ''}\n\n`)
      case 'code':
        return plain(node.metadata?.math === undefined ? (node.text ?? '') : `$${node.text ?? ''}$`)
      default:
        return plain(node.children === undefined ? (node.text ?? '') : inline(node.children))
    }
  }

  function footnote(note: OfficeContentNode): string {
    const number = footnotes.length + 1
    // Its place first: a note may have notes itself.
    footnotes.push('')
    const text = cellText(note.children ?? []) || (note.text ?? '')
    footnotes[number - 1] = `[^${number}]: ${text.trim().replace(/\n/g, '\n    ')}`
    return `[^${number}]`
  }

  const blocks = blocksOf(content)
  const notes = footnotes.map((text) => ({ text, item: true }))
  return { text: joinBlocks([...blocks, { text: joinBlocks(notes), item: false }]), pictures }
}

interface Run {
  text: string
  bold: boolean
  italic: boolean
  link: string | undefined
  notes: OfficeContentNode[]
}

/** The marks hug the words: `**bold **` is not bold in Markdown. */
function emphasised({ text, bold, italic }: Run): string {
  const words = text.trim()
  if (words === '' || words.includes('\n') || !(bold || italic)) return text
  const mark = `${bold ? '**' : ''}${italic ? '*' : ''}`
  const start = text.indexOf(words)
  return text.slice(0, start) + mark + words + [...mark].reverse().join('') + text.slice(start + words.length)
}
