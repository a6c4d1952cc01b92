import { type ReactNode, useEffect, useState } from 'react'
import { siteStorage } from '../../browser-storage.ts'
import { counted, fullCount } from '../../words.ts'
import { Button } from '../Button.tsx'
import styles from './DiffBar.module.css'
import type { DiffFile } from './parse-diff.ts'

interface DiffBarProps {
  files: readonly DiffFile[]
  /** What a file of the diff stands for. */
  thing: string
  /** How many of the files are viewed. */
  viewed: number
  look: ReturnType<typeof useLook>
  children: ReactNode
}

/** Above a diff: how much it changes, and how it is shown. */
export function DiffBar({ files, thing, viewed, look, children }: DiffBarProps) {
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  const { isWide, wantsSplit, isWrapped, isFull, choose } = look
  const choice = (name: string, isOn: boolean, onClick: () => void) => (
    <Button kind="quiet" aria-pressed={isOn} onClick={onClick}>
      {name}
    </Button>
  )
  return (
    <div className={styles.bar}>
      <p className={styles.sum}>
        {files.length > 1 && `${counted(files.length, thing)}, `}
        {counted(added, 'line')} added, {fullCount(removed)} removed
        {viewed > 0 && `, ${viewed} of ${files.length} viewed`}
      </p>
      <span className={styles.tools}>
        {isWide && choice('Side by side', wantsSplit, () => choose({ unified: wantsSplit, unwrapped: false }))}
        {choice('Wrap lines', isWrapped, () => choose({ unwrapped: isWrapped }))}
        <span className={styles.full}>{choice('Full width', isFull, () => choose({ full: !isFull }))}</span>
        {children}
      </span>
    </div>
  )
}

/** Narrower, and two files beside each other cannot be read. In rem. */
const WIDE = 62
const KEPT = 'quarterdeck.diff'
const choices = ['unified', 'unwrapped', 'full'] as const
type Choices = Partial<Record<(typeof choices)[number], boolean>>

/** How all diffs are shown in this browser: what a person has chosen, and what there is space for in the frame. */
export function useLook(frame: { current: HTMLElement | null }) {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    if (frame.current === null) return
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const sizes = new ResizeObserver(([entry]) => setWide((entry?.contentRect.width ?? 0) >= WIDE * rem))
    sizes.observe(frame.current)
    return () => sizes.disconnect()
  }, [frame])
  const [chosen, setChosen] = useState<Choices>(() => {
    const kept = siteStorage.getItem(KEPT)?.split(' ') ?? []
    return Object.fromEntries(kept.map((name) => [name, true]))
  })
  function choose(changed: Choices): void {
    const next = { ...chosen, ...changed }
    siteStorage.setItem(KEPT, choices.filter((name) => next[name]).join(' '))
    setChosen(next)
  }
  const { unified = false, unwrapped = false, full = false } = chosen
  // Two long lines beside each other cannot both go on beside the screen.
  return { isWide, wantsSplit: !unified && !unwrapped, isWrapped: !unwrapped, isFull: full, choose }
}
