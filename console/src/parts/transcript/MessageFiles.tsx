import { useState } from 'react'
import { useClient } from '../../data/server.tsx'
import type { MessageFile } from '../../data/transcript.ts'
import { errorText } from '../../error-text.ts'
import { announce } from '../Announcer.tsx'
import { Button } from '../Button.tsx'
import { FileIcon } from '../icons.ts'
import { saveFile } from '../save-file.ts'
import styles from './MessageFiles.module.css'
import { usePicture } from './use-picture.ts'

/** The files of a message. Nothing is opened as a page: a file is saved, and of a picture a small one is shown. */
export default function MessageFiles({ files }: { files: readonly MessageFile[] }) {
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

function FileEntry({ file }: { file: MessageFile }) {
  const { name, fileId } = file
  const client = useClient()
  const picture = usePicture(file)
  const [isLarge, setLarge] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const [isBusy, setBusy] = useState(false)

  async function save(): Promise<void> {
    if (fileId === null) return
    setBusy(true)
    try {
      saveFile(name, [await client.download({ file_id: fileId })], 'application/octet-stream')
    } catch (error) {
      announce(errorText(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className={styles.file}>
      {picture !== null && !isBroken && (
        <button
          type="button"
          className={isLarge ? styles.large : styles.small}
          aria-label={`${isLarge ? 'Small' : 'Large'} picture ${name}`}
          onClick={() => setLarge(!isLarge)}
        >
          <img src={picture} alt="" decoding="async" onError={() => setBroken(true)} />
        </button>
      )}
      <div className={styles.line}>
        <FileIcon aria-hidden="true" />
        <bdi className={styles.name}>{name}</bdi>
        {fileId !== null && (
          <Button kind="quiet" isBusy={isBusy} onClick={() => void save()}>
            Save<span className="unseen"> {name}</span>
          </Button>
        )}
      </div>
    </div>
  )
}
