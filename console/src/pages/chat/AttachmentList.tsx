import { IconButton } from '../../parts/Button.tsx'
import { formatBytes } from '../../parts/bytes.ts'
import { CloseIcon, FileIcon, WarningIcon } from '../../parts/icons.ts'
import styles from './AttachmentList.module.css'
import type { Attachment } from './use-attachments.ts'

/** The files of the message that is being written. */
export function AttachmentList({ list, onRemove }: { list: readonly Attachment[]; onRemove: (key: string) => void }) {
  if (list.length === 0) return null
  return (
    <ul className={styles.list} aria-label="Files of this message">
      {list.map(({ key, name, bytes, progress, file, problem }) => (
        <li key={key} className={`${styles.entry} ${problem === null ? '' : styles.bad}`}>
          {problem === null ? <FileIcon aria-hidden="true" /> : <WarningIcon aria-hidden="true" />}
          <div className={styles.text}>
            <bdi className={styles.name}>{name}</bdi>
            {problem !== null ? (
              <span role="alert">{problem}</span>
            ) : file === null ? (
              <progress value={progress} aria-label={`Uploading ${name}`} />
            ) : (
              <span>{formatBytes(bytes)}</span>
            )}
          </div>
          <IconButton label={`Remove ${name}`} icon={<CloseIcon />} onClick={() => onRemove(key)} />
        </li>
      ))}
    </ul>
  )
}
