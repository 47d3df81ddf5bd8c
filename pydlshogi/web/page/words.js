// What the page says, in English and Japanese.

const ENGLISH = {
  copy: 'Copy, picture', 'copy record': 'the record', 'copy position': 'the position (sfen)', 'copy line': 'the moves (USI)', text: 'Text', copyIt: 'Copy', copied: 'Copied',
  picture: 'Picture:', edit: 'Set up a position', toBlack: "to Black's hand", toWhite: "to White's hand", sideToMove: 'Side to move', clear: 'Clear',
  erase: 'take away', editAdvice: 'Choose a piece, then touch the squares where it is to stand; touch it again to take it away.',
  playFromHere: 'Play from here', phone: 'On a phone in this network', 'short copy': 'Copy', 'short edit': 'Set up', 'short phone': 'Phone',
  theme: 'Board', 'theme wood': 'wood', 'theme calm': 'calm', pieces: 'Pieces of shogi', 'pieces one': 'one character', 'pieces two': 'two characters',
  sound: 'Sounds', 'sound on': 'on', 'sound off': 'off', letters: 'Letters', 'letters normal': 'normal', 'letters large': 'large',
  actions: 'What can be done', settings: 'Settings', done: 'Done', theBest: 'the best move', findBetter: 'Find a better move than',
  findMate: 'There is a mate. Find a better move than', delete: 'Delete', practise: 'Practise', nextTask: 'Next', answer: 'Answer', rightMove: 'right!',
  notYet: 'there is a better move', isJudged: 'the engine looks at it …', good: 'as good as', '?!': 'inaccuracy', '?': 'mistake', '??': 'blunder', noMistakes: 'No mistakes',
  discsLost: 'discs', discsLostEach: 'discs lost', opening: 'opening', 'middle game': 'middle', endgame: 'end',
  'short newGame': 'New', 'short undo': 'Undo', 'short hint': 'Hint', 'short resign': 'Resign', 'short declare': 'Declare', 'short pass': 'Pass',
  'short watch': 'Thinking', 'short pause': 'Stop', 'short policy': 'Intuition', 'short judge': 'Review', 'short stop': 'Stop',
  'short open': 'Open', 'short save': 'Save', 'short earlier': 'Earlier', 'short turn': 'Turn', 'short settings': 'Settings',
  title: 'pydlshogi board', after: 'after move', shogi: 'Shogi', dobutsu: 'Dobutsu shogi', othello: 'Othello', pass: 'Pass', passed: '(the other side had to pass)',
  'more discs': 'by discs', 'equal discs': 'with equal discs',
  'more discs, both pass': 'by discs: neither side can move, the winner gets the empty squares',
  'equal discs, both pass': 'with equal discs: neither side can move (double pass)',
  time: 'on time', 'illegal move': 'by an illegal move', default: 'by default', impasse: 'by impasse',
  'too many moves': 'at the longest number of moves', 'as recorded': 'by the record', ranks: 'abcdefghi', discs: 'Discs', nodes: 'positions',
  nodesPerSecond: 'positions/s', none: 'none', minutes: 'min', seconds: 's', mainTime: 'Time for each side',
  byoyomi: 'Each move (byoyomi)', openFile: 'or a file:',
  fileGame: 'Game', backToGame: 'Back to the game', earlier: 'Earlier game', openingRecord: 'Opening the record …', beginning: 'Preparing the game …', retry: 'Try again', yourMove: 'to move: your turn',
  mustPass: 'cannot move and has to pass', transcript: 'A transcript (f5d6c3) or a position',
  'advice shogi': 'Touch a piece, then one of the marked squares; or drag it with the mouse.',
  'advice dobutsu': 'Catch the lion, or bring yours safely to the far row. Dots show where an animal may step. ' +
    'Touch it, then a marked square; or drag it with the mouse. You may drop what you catch.',
  'advice othello': 'Touch a marked square: the discs between it and another of yours turn.',
  'losses label': 'What each move lost, Black upwards, White downwards', 'histogram label': 'How many moves lost how much',
  language: '日本語',
  play: 'Play', analyse: 'Analyse', files: 'File', depth: 'Depth of the review', 'depth 0': 'quick', 'depth 1': 'normal',
  'depth 2': 'deep', pace: 'Pace', 'pace 0': 'slow', 'pace 1': 'normal pace', 'pace 2': 'fast', pauseGame: 'Pause', goOnGame: 'Go on',
  oneMove: 'One move', waits: 'to move: the game waits', rematch: 'Rematch', opponent: 'Opponent', side: 'You play', watchGame: 'nobody (watch)',
  book: 'Book', bookMove: 'Move of the book: its value in centipawns for the side to move, and how often it was played',
  goOn: 'Go on with the earlier game', charts: 'Charts', keysTitle: 'Keys', accuracy: 'accuracy',
  'about shogi': 'Japanese chess: captured pieces come back', 'about dobutsu': 'A small shogi with animals, for all ages',
  'about othello': 'Black and white discs that turn',
  'about hint': 'the engine thinks for a second and shows three moves', 'about watch': 'what the engine thinks of every position, as arrows',
  'about policy': 'what the network expects before it has searched', 'about judge': 'the whole game is looked at, and mistakes are marked',
  'about accuracy': '100 where no move lost anything', 'about opening': 'accuracy in the first third of the game',
  'about middle game': 'accuracy in the second third', 'about endgame': 'accuracy in the last third',
  'about found': "how many moves were the engine's own", 'about lost': 'of the win rate, by each move on average',
  'about discsLostEach': 'by each move on average',
  newGame: 'New game', undo: 'Undo', resign: 'Resign', declare: 'Declare a win', hint: 'Hint', turn: 'Turn board',
  watch: 'Show thinking', pause: 'Stop thinking', policy: 'Intuition', open: 'Open a record', judge: 'Review', save: 'Save', lineCount: 'Candidates',
  stop: 'Stop the review', previousMistake: 'Previous mistake', nextMistake: 'Next mistake', first: 'First', back: 'Back',
  forward: 'Forward', lastMove: 'Last', start: 'Start', cancel: 'Cancel', game: 'Game', black: 'Black', white: 'White',
  position: 'Begin from', 'position shown': 'the position shown', sfen: 'A position (sfen), with moves behind it if you like', ownStart: 'From a position or moves of your own', paste: 'Paste a record, a transcript or an sfen here',
  person: 'a person', you: 'you', beginner: 'level 1 (beginner)', novice: 'level 2 (novice)', easy: 'level 3 (easy)', casual: 'level 4 (casual)',
  medium: 'level 5 (medium)', strong: 'level 6 (strong)', hard: 'level 7 (hard)', expert: 'level 8 (expert)', master: 'level 9 (master)',
  champion: 'level 10 (champion)', 'full strength': 'engine: full strength', perfect: 'engine: perfect play', 'policy only': 'engine: policy only', 'network search': 'engine: learned intuition and search', IaGo: 'engine: as IaGo, with rollouts', 'one move ahead': 'engine: one move ahead',
  even: 'even game', 'lance handicap': 'lance handicap', 'bishop handicap': 'bishop handicap', 'rook handicap': 'rook handicap',
  'rook and lance': 'rook and lance handicap', 'two pieces': 'two-piece handicap', 'four pieces': 'four-piece handicap',
  'six pieces': 'six-piece handicap', board: 'board', empty: 'empty', target: 'can go here', movable: 'can move', inDanger: 'in danger', 'inDanger shogi': 'in check',
  inHand: 'in hand', blacksHand: "Black's hand", whitesHand: "White's hand", promoteOrNot: 'Promote?', promote: 'promote',
  doNotPromote: 'do not promote', toMove: 'to move', thinks: 'to move: the engine thinks', move: 'Move', win: 'Win', winsIn: 'wins in #', losesIn: 'loses in #', visits: 'Visits',
  line: 'Line', connecting: 'connecting', prepares: 'Preparing the engine; at first that takes a minute …', gone: 'The server does not answer: start it again.',
  tokenless: 'Open the address that the program printed, with all that follows the #.',
  'graph label': "Black's win rate", 'discs label': 'Discs that Black will be ahead', candidates: 'Candidates', moves: 'Moves',
  youWin: 'You win', youLose: 'You lose', wins: 'wins', nobody: 'A draw', mate: 'by mate', repetition: 'by repetition',
  'perpetual check': 'because of perpetual check', resignation: 'by resignation', declaration: 'by declaration',
  try: 'by bringing the lion home (try)', 'lion caught': 'by catching the lion', found: 'best',
  lost: 'loss', better: 'better',
  confirmResign: 'Resign this game?', keys: 'On the board arrows and Enter move pieces; elsewhere ← → Home End step through the game. ' +
    'The right button of the mouse draws arrows on the board.'
}

const JAPANESE = {
  copy: 'コピー・画像', 'copy record': '棋譜', 'copy position': '局面 (sfen)', 'copy line': '手順 (USI)', text: 'テキスト', copyIt: 'コピー', copied: 'コピーしました',
  picture: '画像:', edit: '局面編集', toBlack: '先手の持ち駒へ', toWhite: '後手の持ち駒へ', sideToMove: '手番', clear: '全て消す',
  erase: '駒を消す', editAdvice: '駒を選び、置くマスに触れます。同じ駒にもう一度触れると消えます。',
  playFromHere: 'ここから対局', phone: '同じネットワークのスマホで', 'short copy': 'コピー', 'short edit': '編集', 'short phone': 'スマホ',
  theme: '盤', 'theme wood': '木目', 'theme calm': '淡色', pieces: '将棋の駒', 'pieces one': '一字駒', 'pieces two': '二字駒',
  sound: '音', 'sound on': 'あり', 'sound off': 'なし', letters: '文字の大きさ', 'letters normal': '標準', 'letters large': '大きい',
  actions: '操作', settings: '設定', done: '閉じる', theBest: '最善手', findBetter: 'より良い手を探してください:',
  findMate: '詰みがあります。より良い手を探してください:', delete: '削除', practise: '練習', nextTask: '次の問題', answer: '答え', rightMove: '正解!', notYet: 'もっと良い手があります', isJudged: '調べています…', good: '好手。他に',
  '?!': '疑問手', '?': '悪手', '??': '大悪手', noMistakes: '悪手はありません',
  discsLost: '石', discsLostEach: '石損', opening: '序盤', 'middle game': '中盤', endgame: '終盤',
  'short newGame': '対局', 'short undo': '待った', 'short hint': 'ヒント', 'short resign': '投了', 'short declare': '宣言', 'short pass': 'パス',
  'short watch': '検討', 'short pause': '止める', 'short policy': '直感', 'short judge': '解析', 'short stop': '止める',
  'short open': '開く', 'short save': '保存', 'short earlier': '前の対局', 'short turn': '反転', 'short settings': '設定',
  'the file holds the line that is shown alone: its format has no variations': 'この形式は分岐を保存できないため、表示中の手順だけを保存しました。',
  title: 'pydlshogi 盤', after: '手目', shogi: '将棋', dobutsu: 'どうぶつしょうぎ', othello: 'オセロ', pass: 'パス', passed: '(相手はパス)', disc: '石',
  'more discs': '(石の数)', 'equal discs': '(石の数が同じ)',
  'more discs, both pass': '(石の数、双方とも打てず終局、空きマスは勝者に加算)', 'equal discs, both pass': '(石の数が同じ、双方とも打てず終局)',
  time: '(切れ負け)', 'illegal move': '(反則)', default: '(不戦)', impasse: '(持将棋)', 'too many moves': '(最大手数)', 'as recorded': '(記録による)',
  ranks: '一二三四五六七八九', discs: '石差', nodes: '局面', nodesPerSecond: '局面/秒', none: 'なし', minutes: '分', seconds: '秒',
  mainTime: '持ち時間', byoyomi: '秒読み', openFile: 'またはファイル:', fileGame: '対局',
  backToGame: '元の対局に戻る', earlier: '前の対局', openingRecord: '棋譜を開いています…', beginning: '対局を準備しています…', 'there is no earlier game': '前の対局はありません', retry: '別の手を試す', yourMove: 'の手番 (あなたの番です)', mustPass: 'は打てる所がなくパスです',
  transcript: '棋譜 (f5d6c3) か局面', 'advice shogi': '駒に触れ、印の付いたマスに触れるか、駒をマウスでドラッグします。',
  'advice dobutsu': 'ライオンを捕まえるか、自分のライオンを安全に一番奥まで進めると勝ち。点は動ける方向です。動物、印の付いたマスの順に触れるか、' +
    'マウスでドラッグします。捕まえた動物は打てます。',
  'advice othello': '印の付いたマスに触れると、はさんだ石が返ります。', 'losses label': '一手ごとの損 (上が先手、下が後手)', 'losses label othello': '一手ごとの損 (上が黒、下が白)',
  'losses label odds': '一手ごとの損 (上が下手、下が上手)',
  'histogram label': '損の大きさごとの手数', 'it is not your turn': 'あなたの番ではありません',
  'there is no move to take back': '戻す手がありません', 'the game has gone on meanwhile': '局面が進んでいます',
  'the king is in check': '王手がかかっています', 'the king would be taken': 'その手は玉を取られます', 'two pawns on one file': '二歩です',
  'a pawn that is dropped may not mate': '打ち歩詰めです', 'there is no win to declare': '宣言勝ちできません', 'the game is over in that position': 'その局面で対局は終わっています', 'one side has two kings': '同じ側に玉が二枚あります', 'the kings touch': '玉どうしが隣り合っています', 'each side has one lion': 'ライオンは双方に一つずつ要ります', 'the file that was opened has no such game': 'その番号の対局はありません',
  'more than 1000000 bytes': 'ファイルが大きすぎます (1 MB まで)',
  'black othello': '黒', 'white othello': '白', 'black odds': '下手', 'white odds': '上手',
  'blacksHand odds': '下手の持ち駒', 'whitesHand odds': '上手の持ち駒',
  language: 'English',
  play: '対局', analyse: '検討', files: 'ファイル', depth: '解析の深さ', 'depth 0': '速い', 'depth 1': '普通', 'depth 2': '深い',
  pace: '進む速さ', 'pace 0': 'ゆっくり', 'pace 1': '普通の速さ', 'pace 2': '速く', pauseGame: '一時停止', goOnGame: '再開', oneMove: '一手進める',
  waits: 'の手番 (一時停止中)',
  rematch: 'もう一局', opponent: '対局相手', side: 'あなたの手番', watchGame: '観戦', goOn: '前の対局を続ける',
  book: '定跡', bookMove: '定跡の手: 手番側から見た評価値と、指された回数',
  charts: 'グラフ', keysTitle: 'キー操作', accuracy: '正確さ', 'about shogi': '取った駒を使える日本のチェス', 'about dobutsu': '動物たちの小さな将棋',
  'about othello': 'はさんで返す黒と白の石',
  'about hint': '1秒考えて三つの手を示します', 'about watch': 'エンジンの読みを矢印で示し続けます', 'about policy': '読む前にネットワークが予想する手',
  'about judge': '一局全体を調べ、悪手に印を付けます', 'about accuracy': '損な手が無ければ100', 'about opening': '最初の三分の一の正確さ',
  'about middle game': '中の三分の一の正確さ', 'about endgame': '最後の三分の一の正確さ', 'about found': 'エンジンの最善手と同じ手の数', 'about lost': '一手平均の勝率の損',
  'about discsLostEach': '一手平均',
  newGame: '新規対局', undo: '待った', resign: '投了', declare: '入玉宣言', hint: 'ヒント', turn: '盤面反転',
  watch: '検討', pause: '検討を止める', policy: '直感 (方策)', open: '棋譜を開く', judge: '棋譜解析', save: '保存', lineCount: '候補手の数', stop: '解析を止める',
  previousMistake: '前の悪手', nextMistake: '次の悪手', first: '最初', back: '戻る', forward: '進む', lastMove: '最後',
  start: '開始', cancel: 'キャンセル', game: 'ゲーム', black: '先手', white: '後手', position: '手合割', 'position shown': '表示中の局面', sfen: '局面 (sfen、手順も可)', ownStart: '局面や手順を指定して始める',
  paste: '棋譜、手順か sfen を貼り付ける', person: '人', you: 'あなた', beginner: 'レベル1 (入門)', novice: 'レベル2 (初級)',
  easy: 'レベル3 (やさしい)', casual: 'レベル4 (中級)', medium: 'レベル5 (普通)', strong: 'レベル6 (強い)', hard: 'レベル7 (上級)',
  expert: 'レベル8 (達人)', master: 'レベル9 (名手)', champion: 'レベル10 (名人)', 'full strength': 'エンジン: 最強', perfect: 'エンジン: 完全解析', 'policy only': 'エンジン: 方策のみ', 'network search': 'エンジン: 学習した直感と探索', IaGo: 'エンジン: IaGo 方式 (ロールアウト)',
  'one move ahead': 'エンジン: 一手読み', even: '平手', 'lance handicap': '香落ち', 'bishop handicap': '角落ち', 'rook handicap': '飛車落ち',
  'rook and lance': '飛香落ち', 'two pieces': '二枚落ち', 'four pieces': '四枚落ち', 'six pieces': '六枚落ち',
  board: '盤', empty: '空き', target: '動ける', movable: '動かせる', inDanger: '取られそう', 'inDanger shogi': '王手', inHand: '枚、持ち駒', blacksHand: '先手の持ち駒',
  whitesHand: '後手の持ち駒', promoteOrNot: '成りますか', promote: '成る', doNotPromote: '成らない', toMove: 'の手番',
  thinks: 'の手番 (エンジンが考えています)', move: '手', win: '勝率', winsIn: '#手で勝ち', losesIn: '#手で負け', visits: '探索数', line: '読み筋', connecting: '接続中', prepares: 'エンジンを準備しています。初回は1分ほどかかります…',
  gone: 'サーバーが応答しません。もう一度起動してください。',
  tokenless: '表示されたアドレスを # の後まで全部開いてください。', 'graph label': '先手の勝率', 'graph label othello': '黒の勝率', 'discs label': '黒の石差', 'graph label odds': '下手の勝率',
  candidates: '候補手', moves: '指し手', youWin: 'あなたの勝ち', youLose: 'あなたの負け', wins: 'の勝ち', nobody: '引き分け', mate: '(詰み)',
  repetition: '(千日手)', 'perpetual check': '(連続王手の千日手)', resignation: '(投了)', declaration: '(入玉宣言)',
  try: '(トライ)', 'lion caught': '(ライオンを捕まえた)', found: '最善', lost: '損', better: '最善', confirmResign: '投了しますか', keys: '盤上では矢印と Enter で駒を動かし、盤の外では ← → Home End で手を進めます。マウスの右ボタンで盤に矢印を描けます。',
  king: '玉', rook: '飛', bishop: '角', lance: '香', gold: '金', silver: '銀', knight: '桂', pawn: '歩', dragon: '龍', horse: '馬', 'promoted silver': '成銀',
  'promoted knight': '成桂', 'promoted lance': '成香', tokin: 'と', lion: 'ライオン', elephant: 'ぞう', giraffe: 'きりん',
  chick: 'ひよこ', hen: 'にわとり'
}

/** What is most often wrong with a record or a position: patterns, as the reason names what it is about. */
const REASONS_IN_ENGLISH = [
  [/^the record: neither .+: not a (CSA )?record$/, 'That cannot be read as a record: it has no moves, no position and no players.']
]
const REASONS_IN_JAPANESE = [
  [/^the record: /, '棋譜を読めません: '],
  [/^something failed: /, 'サーバーの内部エラー: '],
  [/: empty$|: it holds no game$/, ': 何も書かれていません'],
  [/(Black|White) has no king$/, '詰まされる側の玉がありません'],
  [/neither side has a king$/, '玉がありません'],
  [/^(.+) can never move from rank (\w)$/, '$2 段に行き所のない $1 があります'],
  [/neither .+: not a (CSA )?record$/, '棋譜ではありません'],
  [/^position: /, ''],
  [/line (\d+): /, '$1行目: '],
  [/move (\d+),? (.+), (is illegal|cannot be played)$/, '$1手目の $2 は指せません'],
  [/move (\d+): (.+) is not a legal move$/, '$1手目の $2 は指せません'],
  [/'(.+)' is no move$|not a (?:move|CSA statement here): '(.+)'$/, '「$1$2」は指し手ではありません'],
  [/unknown handicap '(.+)'$/, '手合割「$1」は分かりません'],
  [/^an sfen has .+/, 'sfen には盤面、手番 (b か w)、持ち駒、手数を書きます'],
  [/^the side to move is b or w, not (.+)/, '手番は b か w です ($1 とあります)'],
  [/^(.+) is not a move number$/, '$1 は手数ではありません'],
  [/^the board has (\d+) ranks$/, '盤面が$1段あります'],
  [/^rank (\w) has (\d+) squares$/, '盤面の $1 段に$2マスあります'],
  [/^(.+) is no piece$/, '$1 という駒はありません'],
  [/^(.+) are no pieces in hand$/, '$1 という持ち駒はありません'],
  [/^the side that is not to move is in check$/, '手番でない側に王手がかかっています'],
  [/^two pawns of one side stand on one file$/, '二歩になっています'],
  [/^a position is 64 squares.+/, '盤面は X、O、- の64マスと手番で書きます']
]

export const LANGUAGES = { en: ENGLISH, ja: JAPANESE }

/** The word for `name`, in a game that may have one of its own; what has none is its own word. */
export function wordIn (language, name, game) {
  const words = LANGUAGES[language]
  return words[`${name} ${game}`] ?? words[name] ?? name
}

/** Take in the words that games bring along. */
export function learnWords (games) {
  for (const [name, { look }] of Object.entries(games)) {
    const words = look && { [name]: look.title, [`about ${name}`]: look.about, [`advice ${name}`]: look.advice }
    for (const language of Object.values(LANGUAGES)) Object.assign(language, words)
  }
}

/** What the server says was wrong, in words of the language as far as it has them. */
export function reasonIn (language, reason) {
  const patterns = language === 'ja' ? REASONS_IN_JAPANESE : REASONS_IN_ENGLISH
  return patterns.reduce((text, [english, japanese]) => text.replace(english, japanese), wordIn(language, reason))
}
