import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import styles from './DropZone.module.css'

/** Takes files that are dropped anywhere on it. */
export function DropZone({ onFiles, children }: { onFiles: ((files: File[]) => void) | null; children: ReactNode }) {
  const [isOver, setOver] = useState(false)
  /** A pointer enters a child before it leaves its parent. */
  const depth = useRef(0)
  const hasFiles = (event: DragEvent) => onFiles !== null && event.dataTransfer.types.includes('Files')
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button for files does the same
    <div
      className={styles.zone}
      onDragEnter={(event) => {
        if (!hasFiles(event)) return
        depth.current += 1
        setOver(true)
      }}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDragLeave={(event) => {
        if (!hasFiles(event)) return
        depth.current -= 1
        if (depth.current <= 0) setOver(false)
      }}
      onDrop={(event) => {
        depth.current = 0
        setOver(false)
        if (!hasFiles(event)) return
        event.preventDefault()
        onFiles?.([...event.dataTransfer.files])
      }}
    >
      {children}
      {isOver && <div className={styles.over}>Drop the files to attach them</div>}
    </div>
  )
}
