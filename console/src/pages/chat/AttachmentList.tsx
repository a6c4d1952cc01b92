import { IconButton } from '../../parts/Button.tsx'
import { formatBytes } from '../../parts/bytes.ts'
import { CloseIcon, FileIcon, WarningIcon } from '../../parts/icons.ts'
import { usePicture } from '../../parts/transcript/use-picture.ts'
import styles from './AttachmentList.module.css'
import type { Attachment } from './use-attachments.ts'

/** The files of the message that is being written. */
export default function AttachmentList({
  list,
  onRemove,
}: {
  list: readonly Attachment[]
  onRemove: (key: string) => void
}) {
  return (
    <ul className={styles.list} aria-label="Files of this message">
      {list.map((one) => (
        <li key={one.key} className={`${styles.entry} ${one.problem === null ? '' : styles.bad}`}>
          <AttachmentEntry attachment={one} />
          <IconButton label={`Remove ${one.name}`} icon={<CloseIcon />} onClick={() => onRemove(one.key)} />
        </li>
      ))}
    </ul>
  )
}

function AttachmentEntry({ attachment }: { attachment: Attachment }) {
  const { name, bytes, progress, local, file, problem } = attachment
  const source = { fileId: file?.file_id ?? null, mimeType: file?.mime_type ?? local?.type ?? null, local }
  const picture = usePicture(source)
  const icon = problem === null ? <FileIcon aria-hidden="true" /> : <WarningIcon aria-hidden="true" />
  return (
    <>
      {picture === null || problem !== null ? icon : <img className={styles.picture} src={picture} alt="" />}
      <div className={styles.text}>
        <bdi className={styles.name}>{name}</bdi>
        {problem !== null ? (
          <span role="alert">{problem}</span>
        ) : file === null ? (
          <progress value={progress} aria-label={`Uploading ${name}`} />
        ) : (
          bytes > 0 && <span>{formatBytes(bytes)}</span>
        )}
      </div>
    </>
  )
}
