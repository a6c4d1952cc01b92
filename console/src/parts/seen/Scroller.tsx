import { createContext, type ReactNode, useContext, useState } from 'react'
import styles from './Scroller.module.css'

const ScrollerContext = createContext<HTMLElement | null>(null)

/** A box that scrolls. Long texts and diffs inside it scroll with it, instead of having boxes of their own. */
export function Scroller({ children, className }: { children: ReactNode; className?: string | undefined }) {
  const [box, setBox] = useState<HTMLElement | null>(null)
  return (
    <div ref={setBox} className={[styles.box, className].filter(Boolean).join(' ')}>
      <ScrollerContext value={box}>{children}</ScrollerContext>
    </div>
  )
}

/** Null: there is none around, or it is not there yet. */
export const useScroller = (): HTMLElement | null => useContext(ScrollerContext)
