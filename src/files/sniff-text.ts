// Whether bytes are text: UTF-8, UTF-16 with its mark, or what can be read as Latin-1. The whole file is asked, not only its
// beginning: a binary file may begin with a line for people.

export interface TextSniffer {
  /** False as soon as it is certain that this is no text. */
  take(bytes: Uint8Array): boolean
  /** Called at the end of the file. */
  end(): boolean
}

export function createTextSniffer(): TextSniffer {
  let sniffer: TextSniffer | null = null
  return {
    take(bytes) {
      if (bytes.length === 0) return true
      sniffer ??= createSnifferFor(bytes)
      return sniffer.take(bytes)
    },
    end: () => sniffer?.end() ?? false,
  }
}

function createSnifferFor([first, second]: Uint8Array): TextSniffer {
  if (first === 0xff && second === 0xfe) return createUtf16Sniffer('utf-16le')
  if (first === 0xfe && second === 0xff) return createUtf16Sniffer('utf-16be')
  return createByteSniffer()
}

function createUtf16Sniffer(encoding: string): TextSniffer {
  const decoder = createStrictDecoder(encoding)
  return {
    take(bytes) {
      const text = decoder.take(bytes)
      return text !== null && !BINARY.test(text)
    },
    end: () => decoder.end(),
  }
}

/** Control characters that text has no use for. What is left: tab, line ends, form feed, escape sequences, old ends of file. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const BINARY = /[\x00-\x08\x0e-\x19\x1c-\x1f]/

/** The places that Windows-1252, which is what is meant by Latin-1, leaves empty. */
const unusedBytes = [0x81, 0x8d, 0x8f, 0x90, 0x9d]

const PLAIN = 0
const BINARY_BYTE = 1
const BEYOND_ASCII = 2
const UNUSED = 3
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x80) return BINARY.test(String.fromCharCode(byte)) ? BINARY_BYTE : PLAIN
  return unusedBytes.includes(byte) ? UNUSED : BEYOND_ASCII
})

/** In a language that Latin-1 is made for, most letters are plain ones. More of the others is another encoding, or no text. */
const MAX_SHARE_BEYOND_ASCII = 0.3

function createByteSniffer(): TextSniffer {
  const utf8 = createStrictDecoder('utf-8')
  let isUtf8 = true
  let isLatin1 = true
  let count = 0
  let beyondAscii = 0
  return {
    take(bytes) {
      count += bytes.length
      // Counted, not `for … of`: every byte of every text comes by here, and this takes half the time.
      for (let i = 0; i < bytes.length; i += 1) {
        const kind = kinds[bytes[i] ?? 0]
        if (kind === PLAIN) continue
        if (kind === BINARY_BYTE) return false
        beyondAscii += 1
        if (kind === UNUSED) isLatin1 = false
      }
      isUtf8 &&= utf8.take(bytes) !== null
      return isUtf8 || isLatin1
    },
    end() {
      if (count === 0) return false
      return (isUtf8 && utf8.end()) || (isLatin1 && beyondAscii <= count * MAX_SHARE_BEYOND_ASCII)
    },
  }
}

function createStrictDecoder(encoding: string) {
  const decoder = new TextDecoder(encoding, { fatal: true })
  return {
    /** Null when it is not in this encoding. */
    take(bytes: Uint8Array): string | null {
      try {
        return decoder.decode(bytes, { stream: true })
      } catch {
        return null
      }
    },
    /** Whether it ended with a whole character. */
    end(): boolean {
      try {
        decoder.decode()
        return true
      } catch {
        return false
      }
    },
  }
}
