import { useMemo } from 'react'
import styles from './QrPicture.module.css'
import { qrCode } from './qr-code.ts'

/** Cameras need a quiet frame of four modules around the code. */
const FRAME = 4

/** Dark on light in both themes: many cameras do not read it the other way round. Nothing is shown if the text is too long. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const code = useMemo(() => qrCode(text), [text])
  if (code === null) return null
  const size = code.length + 2 * FRAME
  const dark = code.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x + FRAME} ${y + FRAME}h1v1h-1z` : [])),
  )
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      className={styles.code}
      shapeRendering="crispEdges"
    >
      <path d={dark.join('')} fill="currentColor" />
    </svg>
  )
}
