import { type ReactNode, useEffect, useState } from 'react'
import { ProseText } from '../ProseText.tsx'
import styles from './Markdown.module.css'
import type { MathToken } from './math-tokens.ts'

/** A longer one in the middle of a line has a line of its own, in which it can scroll. */
const LONGEST_INLINE = 80

/** A formula. Until the library is there, and where it can make nothing of it, one sees what was written. */
export function Formula({ token: { raw, tex, isBlock } }: { token: MathToken }) {
  const drawn = useDrawn(tex, isBlock)
  if (drawn === null) {
    return (
      <code>
        <ProseText text={raw.trim()} />
      </code>
    )
  }
  const isOwnLine = isBlock || tex.length > LONGEST_INLINE
  return (
    <span
      className={isOwnLine ? styles.formulaBlock : styles.formula}
      dir="ltr"
      {...(isOwnLine ? { tabIndex: 0, role: 'group', 'aria-label': 'Formula' } : {})}
    >
      {drawn}
    </span>
  )
}

function useDrawn(tex: string, isBlock: boolean): ReactNode | null {
  const [found, setFound] = useState<{ tex: string; drawn: ReactNode } | null>(null)
  useEffect(() => {
    let isGone = false
    import('./draw-formula.ts').then(
      ({ drawFormula }) => {
        if (!isGone) setFound({ tex, drawn: drawFormula(tex, isBlock) })
      },
      // Without the chunk it stays as it was written.
      () => {},
    )
    return () => {
      isGone = true
    }
  }, [tex, isBlock])
  return found?.tex === tex ? found.drawn : null
}
