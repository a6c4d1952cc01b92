import type { Button, Inline, SlackBlock, SlackMessage } from '../blocks.ts'

/** A message as a person reads it, one line per line. Emoji are `:name:`, quotes begin with `> `, code blocks with `| `. */
export const linesOf = ({ blocks }: Pick<SlackMessage, 'blocks'>): string[] => blocks.flatMap(blockLines)

export const buttonsOf = ({ blocks }: Pick<SlackMessage, 'blocks'>): Button[] =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []))

function blockLines(block: SlackBlock): string[] {
  if (block.type === 'section') return [block.text.text]
  if (block.type === 'actions') return [block.elements.map(({ text }) => `[${text.text}]`).join(' ')]
  return block.elements.flatMap(({ type, elements }) => {
    const text = elements.map(inlineText).join('')
    const before = { rich_text_section: '', rich_text_quote: '> ', rich_text_preformatted: '| ' }[type]
    return text.split('\n').map((one) => `${before}${one}`)
  })
}

function inlineText(piece: Inline): string {
  if (piece.type === 'emoji') return `:${piece.name}:`
  if (piece.type === 'date') return piece.fallback
  return piece.type === 'link' ? `[${piece.text}](${piece.url})` : piece.text
}
