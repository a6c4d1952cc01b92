import { type ReactNode, useEffect, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import type { MessageFile } from '../../data/transcript.ts'
import { errorText } from '../../error-text.ts'
import { announce } from '../Announcer.tsx'
import { Button } from '../Button.tsx'
import { CutText } from '../CutText.tsx'
import { FileIcon } from '../icons.ts'
import { saveFile } from '../save-file.ts'
import styles from './UserMessage.module.css'

interface UserMessageProps {
  text: string
  files: readonly MessageFile[]
  /** Below the message: that it is on its way, or what went wrong. */
  children?: ReactNode
  isPale?: boolean
}

/** What a person wrote, as they wrote it. */
export function UserMessage({ text, files, children, isPale = false }: UserMessageProps) {
  return (
    <section className={styles.message}>
      <h2 className="unseen">Message</h2>
      {text !== '' && (
        <div className={`${styles.bubble} ${isPale ? styles.pale : ''}`}>
          <CutText text={text} />
        </div>
      )}
      {files.length > 0 && <MessageFiles files={files} />}
      {children}
    </section>
  )
}

/** The files of a message. Nothing is fetched before a press, and nothing is opened as a page: a file is saved, a picture is shown. */
function MessageFiles({ files }: { files: readonly MessageFile[] }) {
  return (
    <ul className={styles.files} aria-label="Files">
      {files.map((file, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be there twice
        <li key={i}>
          <FileEntry file={file} />
        </li>
      ))}
    </ul>
  )
}

/** Drawings in SVG are documents with scripts: they are saved. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function FileEntry({ file: { name, fileId, mimeType } }: { file: MessageFile }) {
  const client = useClient()
  const [picture, setPicture] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => () => (picture === null ? undefined : URL.revokeObjectURL(picture)), [picture])

  async function withFile(use: (content: Blob) => void): Promise<void> {
    if (fileId === null) return
    setBusy(true)
    try {
      use(await client.download({ file_id: fileId }))
    } catch (error) {
      announce(errorText(error))
    } finally {
      setBusy(false)
    }
  }
  const show = () =>
    withFile((content) => {
      // The type of the blob decides what the browser makes of it: never more than a picture.
      setPicture(URL.createObjectURL(new Blob([content], { type: mimeType ?? '' })))
    })
  const isPicture = mimeType !== null && SHOWN_TYPES.has(mimeType)
  return (
    <div className={styles.file}>
      <div className={styles.line}>
        <FileIcon aria-hidden="true" />
        <bdi className={styles.name}>{name}</bdi>
        {fileId !== null && (
          <Button
            kind="quiet"
            isBusy={isBusy}
            onClick={() => void withFile((content) => saveFile(name, [content], 'application/octet-stream'))}
          >
            Save<span className="unseen"> {name}</span>
          </Button>
        )}
        {isPicture && fileId !== null && picture === null && (
          <Button kind="quiet" isBusy={isBusy} onClick={() => void show()}>
            Show picture<span className="unseen"> {name}</span>
          </Button>
        )}
      </div>
      {picture !== null && <img src={picture} alt={name} className={styles.picture} />}
    </div>
  )
}
