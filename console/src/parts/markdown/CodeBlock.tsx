import { useEffect, useState } from 'react'
import { CopyButton } from '../CopyButton.tsx'
import { markHidden } from '../hidden-marks.ts'
import { ProseText } from '../ProseText.tsx'
import styles from './CodeBlock.module.css'
import type { CodePiece } from './highlight.ts'
import { languageOf } from './languages.ts'

/** Longer code stays black on white: colours would hold up the page. */
const LONGEST_COLOURED = 50_000

interface CodeBlockProps {
  code: string
  /** As the agent named it. Empty: it did not. */
  language: string
  /** Its end has not come yet. Colours come with the end. */
  isOpen: boolean
}

/** Long lines scroll inside of it. Colours never change the text. */
export function CodeBlock({ code, language, isOpen }: CodeBlockProps) {
  const marked = markHidden(code)
  const pieces = usePieces(code, isOpen || code.length > LONGEST_COLOURED ? '' : language)
  return (
    <figure className={styles.frame} dir="ltr">
      <figcaption className={styles.head}>
        <span>{language === '' ? 'text' : language}</span>
        <CopyButton text={code} what="code" />
      </figcaption>
      <pre
        className={styles.code}
        tabIndex={0}
        aria-label={language === '' ? 'Code' : `Code in ${language}`}
        role="group"
      >
        <code>
          {pieces === null || marked !== code ? (
            <ProseText text={code} />
          ) : (
            pieces.map(({ text, tone }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: pieces never change places
              <span key={i} className={tone === null ? undefined : styles[tone]}>
                {text}
              </span>
            ))
          )}
        </code>
      </pre>
    </figure>
  )
}

function usePieces(code: string, language: string): CodePiece[] | null {
  const [found, setFound] = useState<{ code: string; pieces: CodePiece[] | null } | null>(null)
  useEffect(() => {
    const known = languageOf(language)
    if (known === null) return
    let isGone = false
    import('./highlight.ts')
      .then(({ loadLanguage }) => loadLanguage(known))
      .then(
        (colour) => isGone || setFound({ code, pieces: colour(code) }),
        // Without the chunk the code has no colours.
        () => {},
      )
    return () => {
      isGone = true
    }
  }, [code, language])
  return found?.code === code ? found.pieces : null
}
