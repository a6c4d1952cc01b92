import type { MarkedToken, Token, Tokens } from 'marked'
import { Fragment, memo, type ReactNode } from 'react'
import { ProseText } from '../ProseText.tsx'
import { CodeBlock } from './CodeBlock.tsx'
import { Formula } from './Formula.tsx'
import { Inline } from './Inline.tsx'
import styles from './Markdown.module.css'
import { isMath } from './math-tokens.ts'

/** Deeper than people write. What is deeper is shown as it was written. */
const DEEPEST = 12

interface BlockProps {
  block: MarkedToken
  /** Its end has not come yet. */
  isOpen: boolean
}

/** Drawn again only if the block is another one. */
export const BlockView = memo(function BlockView({ block, isOpen }: BlockProps) {
  return drawBlock(block, isOpen, 0)
})

function drawBlock(block: MarkedToken, isOpen: boolean, depth: number): ReactNode {
  if (depth > DEEPEST) return <Plain text={block.raw} />
  if (isMath(block)) return <Formula token={block} />
  switch (block.type) {
    case 'space':
      return null
    case 'hr':
      return <hr />
    case 'heading':
      return (
        <h3 data-depth={Math.min(block.depth, 4)}>
          <Inline tokens={block.tokens} />
        </h3>
      )
    case 'paragraph':
      return (
        <p>
          <Inline tokens={block.tokens} />
        </p>
      )
    case 'code':
      return <CodeBlock code={block.text} language={languageOf(block.lang)} isOpen={isOpen} />
    case 'blockquote':
      return <blockquote>{drawBlocks(block.tokens, isOpen, depth + 1)}</blockquote>
    case 'list':
      return <List list={block} isOpen={isOpen} depth={depth} />
    case 'table':
      return <Table table={block} />
    case 'text':
      if (block.tokens !== undefined) return <Inline tokens={block.tokens} />
      return <Plain text={block.text} />
    default:
      // HTML, the definition of an address, and what newer lexers may find: as it was written.
      return <Plain text={block.raw.trimEnd()} />
  }
}

/** Text as it was written. */
function Plain({ text }: { text: string }) {
  return (
    <p className={styles.plain}>
      <ProseText text={text} />
    </p>
  )
}

function drawBlocks(tokens: readonly Token[], isOpen: boolean, depth: number): ReactNode {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks never change places
    <Fragment key={i}>{drawBlock(token as MarkedToken, isOpen && i === tokens.length - 1, depth)}</Fragment>
  ))
}

function List({ list, isOpen, depth }: { list: Tokens.List; isOpen: boolean; depth: number }) {
  const items = list.items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items never change places
    <li key={i} className={item.task ? styles.task : undefined}>
      {item.task && !item.loose && <Box isChecked={item.checked === true} />}
      {drawBlocks(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        isOpen && i === list.items.length - 1,
        depth + 1,
      )}
    </li>
  ))
  if (!list.ordered) return <ul>{items}</ul>
  return <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
}

/** Nothing to press: it is what the agent wrote. */
export function Box({ isChecked }: { isChecked: boolean }) {
  return (
    <span className={styles.box} role="img" aria-label={isChecked ? 'Done:' : 'To do:'}>
      {isChecked ? '✓' : ''}
    </span>
  )
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    <div className={styles.tableBox} tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map(({ tokens, align }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
              <th key={i} style={{ textAlign: align ?? 'start' }} dir="auto">
                <Inline tokens={tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows never change places
            <tr key={i}>
              {row.map(({ tokens, align }, j) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
                <td key={j} style={{ textAlign: align ?? 'start' }} dir="auto">
                  <Inline tokens={tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The first word after the fence. */
const languageOf = (info: string | undefined): string => /^[\w+#.-]{1,20}/.exec(info ?? '')?.[0]?.toLowerCase() ?? ''
