import { announce } from './Announcer.tsx'
import { IconButton } from './Button.tsx'
import { CopyIcon } from './icons.ts'

/** Puts a text on the clipboard and says so. `what`: the word for it, such as `code`. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  return <IconButton label={`Copy ${what}`} icon={<CopyIcon />} onClick={() => void copyText(text, what)} />
}

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    announce(`Copied the ${what}`)
  } catch {
    // Over plain HTTP a page may not write to the clipboard.
    announce('This browser does not let the page copy. Select the text, and copy it yourself.')
  }
}
