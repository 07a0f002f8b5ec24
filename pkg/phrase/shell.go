package phrase

import "strings"

// Command writes a command line that can be pasted: each word reaches the program as it is. Every
// printed command goes through it, since objects, files and users supply names. Quotes do not keep
// a word from being an option: write an object as TYPE/NAME.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = ShellWord(word)
	}
	return strings.Join(quoted, " ")
}

// ShellWord writes a word so that a shell takes it for one.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if word != "" && word[0] != '=' && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word // zsh takes =ls for the path of ls
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
