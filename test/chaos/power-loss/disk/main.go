// Command power-disk mounts a file system whose power can be cut, which loses all unsynced data.
//
//	power-disk [-ordering ordered|strict] [-capacity BYTES] MOUNTPOINT
//
// It takes one command as JSON on each line of its standard input and answers each with one line. When its input
// ends, it unmounts and ends. Everything is in memory; nothing is kept.
//
//	{"do": "cut", "seed": 7, "kill": [123]}  cuts the power: those processes and their children die while the disk is
//	                                         frozen; unsynced data is lost (seed null: all of it; else a part survives),
//	                                         and the disk is mounted again
//	{"do": "sync"}                           makes all written data durable
//	{"do": "fail", "with": "EIO", "reads": true, "after": 3}
//	                                         from now on operations fail with EIO, EROFS, ENOSPC or EDQUOT, after three that
//	                                         succeed; without "reads" only those that change something; with "": none
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
)

type command struct {
	Do   string  `json:"do"`
	Seed *uint64 `json:"seed"`
	Kill []int   `json:"kill"`
	With string  `json:"with"`
	// Of a fault.
	Reads bool `json:"reads"`
	After int  `json:"after"`
}

type answer struct {
	Error string `json:"error,omitempty"`
	Lost  *loss  `json:"lost,omitempty"`
}

func main() {
	log.SetFlags(0)
	kind := flag.String("ordering", string(ordered), "what an fsync covers besides its file: ordered or strict")
	capacity := flag.Uint64("capacity", 1<<30, "bytes the disk holds")
	flag.Parse()
	if flag.NArg() != 1 || (*kind != string(ordered) && *kind != string(strict)) {
		flag.Usage()
		os.Exit(2)
	}
	power := &power{mountpoint: flag.Arg(0), disk: newDisk(ordering(*kind), *capacity)}
	if err := power.on(); err != nil {
		log.Fatalf("%s cannot be mounted: %v", power.mountpoint, err)
	}
	say(answer{})
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		say(power.obey(input.Bytes()))
	}
	if err := power.unmount(); err != nil {
		log.Fatalf("%s cannot be unmounted: %v", power.mountpoint, err)
	}
}

func (p *power) obey(line []byte) answer {
	var told command
	if err := json.Unmarshal(line, &told); err != nil {
		return answer{Error: err.Error()}
	}
	switch told.Do {
	case "cut":
		var chance *rand.Rand
		if told.Seed != nil {
			chance = rand.New(rand.NewPCG(*told.Seed, 0))
		}
		lost, err := p.cut(chance, told.Kill)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Lost: &lost}
	case "sync":
		p.disk.mu.Lock()
		defer p.disk.mu.Unlock()
		p.disk.syncAll()
		return answer{}
	case "fail":
		if err := p.disk.fail(told.With, told.Reads, told.After); err != nil {
			return answer{Error: err.Error()}
		}
		return answer{}
	}
	return answer{Error: fmt.Sprintf("%q is no command", told.Do)}
}

func say(what answer) {
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		log.Fatal(err)
	}
}
