import type { MarkedToken, Token } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { WarningIcon } from '../icons.ts'
import { ProseText } from '../ProseText.tsx'
import { Box } from './BlockView.tsx'
import { withoutReferences } from './character-references.ts'
import { compareLinkText, linkTarget } from './link-target.ts'
import styles from './Markdown.module.css'

const DEEPEST = 12

export function Inline({ tokens, depth = 0 }: { tokens: readonly Token[]; depth?: number }) {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens never change places
    <Fragment key={i}>{drawInline(token as MarkedToken, depth)}</Fragment>
  ))
}

function drawInline(token: MarkedToken, depth: number): ReactNode {
  if (depth > DEEPEST) return <ProseText text={token.raw} />
  const inside = (tokens: readonly Token[]) => <Inline tokens={tokens} depth={depth + 1} />
  switch (token.type) {
    case 'strong':
      return <strong>{inside(token.tokens)}</strong>
    case 'em':
      return <em>{inside(token.tokens)}</em>
    case 'del':
      return <del>{inside(token.tokens)}</del>
    case 'codespan':
      return (
        <code>
          <ProseText text={token.text} />
        </code>
      )
    case 'br':
      return <br />
    case 'checkbox':
      return <Box isChecked={token.checked} />
    case 'link':
      return (
        <Link address={token.autolink ? token.href : withoutReferences(token.href)} text={token.text}>
          {inside(token.tokens)}
        </Link>
      )
    case 'image':
      return (
        <Link address={withoutReferences(token.href)} text="">
          <span className={styles.picture}>
            Picture: <ProseText text={withoutReferences(token.text) || 'no description'} />
          </span>
        </Link>
      )
    case 'text':
      if (token.tokens !== undefined) return inside(token.tokens)
      return <ProseText text={withoutReferences(token.text)} />
    case 'escape':
      return token.text
    default:
      // HTML is text here.
      return <ProseText text={token.raw} />
  }
}

/** The text, and beside it where one would go. Only the address is a link, so that nobody is led elsewhere by a text. */
function Link({ address, text, children }: { address: string; text: string; children: ReactNode }) {
  const target = linkTarget(address)
  if (target === null) {
    return (
      <>
        {children}{' '}
        <bdi className={styles.noLink}>
          (<ProseText text={address} />)
        </bdi>
      </>
    )
  }
  const relation = compareLinkText(text, target)
  const anchor = (shown: string) => (
    <a href={target.href} target="_blank" rel="noopener noreferrer" title={target.href} dir="ltr">
      {shown}
    </a>
  )
  if (relation === 'same') return anchor(target.shown)
  return (
    <>
      <bdi>{children}</bdi>{' '}
      <span className={styles.address}>
        {relation === 'elsewhere' && (
          <span className={styles.elsewhere}>
            <WarningIcon aria-hidden="true" /> leads elsewhere:{' '}
          </span>
        )}
        {anchor(target.shown)}
      </span>
    </>
  )
}
