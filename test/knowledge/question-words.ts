// The words of the questions that are made by rule, in each language.

import type { Language } from './packages.ts'

/** `#` is the heading, the term or the code. */
export const asks: Record<Language, { heading: readonly string[]; term: readonly string[]; code: readonly string[] }> =
  {
    en: {
      heading: [
        'How do I use: #?',
        'What does the manual say about #?',
        '# – how does it work?',
        'Where can I read about #?',
      ],
      term: ['What does # mean?', 'What is # for?', 'Explain #'],
      code: ['Where is # described?', 'What is #?', 'I see # in the output, what now?'],
    },
    de: {
      heading: [
        'Wie funktioniert das: #?',
        'Was steht in der Anleitung über #?',
        '# – wie geht das?',
        'Wo steht etwas über #?',
      ],
      term: ['Was bedeutet #?', 'Wozu dient #?', 'Erkläre #'],
      code: ['Wo wird # beschrieben?', 'Was ist #?'],
    },
    fr: {
      heading: ['Comment fonctionne : # ?', 'Que dit le manuel sur # ?', '# : comment faire ?', 'Où est expliqué # ?'],
      term: ['Que signifie # ?', 'À quoi sert # ?', 'Expliquez #'],
      code: ['Où est décrit # ?', "Qu'est-ce que # ?"],
    },
    es: {
      heading: ['¿Cómo funciona: #?', '¿Qué dice el manual sobre #?', '#: ¿cómo se hace?', '¿Dónde se explica #?'],
      term: ['¿Qué significa #?', '¿Para qué sirve #?', 'Explica #'],
      code: ['¿Dónde se describe #?', '¿Qué es #?'],
    },
    it: {
      heading: ['Come funziona: #?', 'Che cosa dice il manuale su #?', '#: come si fa?', 'Dove si spiega #?'],
      term: ['Che cosa significa #?', 'A che cosa serve #?', 'Spiega #'],
      code: ['Dove è descritto #?', "Che cos'è #?"],
    },
    ja: {
      heading: ['#とは何ですか?', '#について教えてください', '#はどうすればいいですか?'],
      term: ['#の意味は何ですか?', '#は何のためのものですか?'],
      code: ['#はどこに書いてありますか?', '#とは何ですか?'],
    },
    zh: {
      heading: ['什么是#?', '#怎么用?', '请介绍一下#'],
      term: ['#是什么意思?', '#有什么用?'],
      code: ['哪里有#的说明?', '#是什么?'],
    },
  }

/** Swapped in both directions, as whole words; in Japanese and Chinese wherever they stand. */
export const synonyms: Record<Language, readonly (readonly [string, string])[]> = {
  en: [
    ['use', 'employ'],
    ['create', 'make'],
    ['delete', 'remove'],
    ['show', 'display'],
    ['start', 'begin'],
    ['need', 'require'],
    ['change', 'modify'],
    ['choose', 'select'],
    ['allow', 'permit'],
    ['error', 'failure'],
    ['directory', 'folder'],
    ['several', 'multiple'],
    ['contains', 'includes'],
    ['specify', 'give'],
    ['default', 'standard'],
    ['ensure', 'guarantee'],
    ['find', 'locate'],
    ['get', 'obtain'],
  ],
  de: [
    ['benutzen', 'verwenden'],
    ['erstellen', 'anlegen'],
    ['löschen', 'entfernen'],
    ['anzeigen', 'darstellen'],
    ['Verzeichnis', 'Ordner'],
    ['ändern', 'anpassen'],
    ['auswählen', 'wählen'],
    ['Fehler', 'Problem'],
    ['mehrere', 'viele'],
    ['enthält', 'umfasst'],
    ['angeben', 'nennen'],
    ['Datei', 'Dokument'],
    ['Rechner', 'Computer'],
  ],
  fr: [
    ['utiliser', 'employer'],
    ['créer', 'produire'],
    ['supprimer', 'effacer'],
    ['afficher', 'montrer'],
    ['répertoire', 'dossier'],
    ['modifier', 'changer'],
    ['choisir', 'sélectionner'],
    ['permet', 'autorise'],
    ['erreur', 'échec'],
    ['plusieurs', 'divers'],
    ['ordinateur', 'machine'],
  ],
  es: [
    ['usar', 'utilizar'],
    ['crear', 'hacer'],
    ['borrar', 'eliminar'],
    ['mostrar', 'visualizar'],
    ['directorio', 'carpeta'],
    ['cambiar', 'modificar'],
    ['elegir', 'seleccionar'],
    ['error', 'fallo'],
    ['varios', 'diversos'],
    ['contiene', 'incluye'],
    ['fichero', 'archivo'],
    ['ordenador', 'equipo'],
  ],
  it: [
    ['usare', 'utilizzare'],
    ['creare', 'fare'],
    ['cancellare', 'eliminare'],
    ['mostrare', 'visualizzare'],
    ['directory', 'cartella'],
    ['modificare', 'cambiare'],
    ['scegliere', 'selezionare'],
    ['errore', 'problema'],
    ['contiene', 'include'],
    ['diversi', 'vari'],
    ['documento', 'file'],
  ],
  ja: [
    ['使用', '利用'],
    ['設定', '構成'],
    ['削除', '消去'],
    ['表示', '出力'],
    ['変更', '修正'],
    ['作成', '生成'],
    ['選択', '指定'],
  ],
  zh: [
    ['使用', '利用'],
    ['设置', '配置'],
    ['删除', '移除'],
    ['显示', '展示'],
    ['更改', '修改'],
    ['创建', '建立'],
    ['选择', '选取'],
    ['文件夹', '目录'],
  ],
}

/** Another form of a word, by its ending: number, person or tense. The first that fits is taken. */
export const forms: Partial<Record<Language, readonly (readonly [RegExp, string])[]>> = {
  en: [
    [/^(\p{Ll}{3,})ies$/u, '$1y'],
    [/^(\p{Ll}{4,}[^s])s$/u, '$1'],
    [/^(\p{Ll}{4,}[^aeioul])ed$/u, '$1ing'],
    [/^(\p{Ll}{4,})tion$/u, '$1tions'],
  ],
  de: [
    [/^(\p{L}\p{Ll}{4,})ungen$/u, '$1ung'],
    [/^(\p{L}\p{Ll}{4,})ung$/u, '$1ungen'],
    [/^(\p{Lu}\p{Ll}{4,})en$/u, '$1'],
    [/^(\p{Lu}\p{Ll}{4,}[lnrt])$/u, '$1s'],
  ],
  fr: [
    [/^(\p{Ll}{4,}[^sx])s$/u, '$1'],
    [/^(\p{Ll}{4,}tion)$/u, '$1s'],
    [/^(\p{Ll}{4,})ées?$/u, '$1er'],
  ],
  es: [
    [/^(\p{Ll}{4,}[aeo])s$/u, '$1'],
    [/^(\p{Ll}{4,})ción$/u, '$1ciones'],
    [/^(\p{Ll}{4,})ad[oa]$/u, '$1ar'],
  ],
  it: [
    [/^(\p{Ll}{4,})zione$/u, '$1zioni'],
    [/^(\p{Ll}{4,})zioni$/u, '$1zione'],
    [/^(\p{Ll}{4,})at[oa]$/u, '$1are'],
  ],
}
